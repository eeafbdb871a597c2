#!/usr/bin/env bash
# Prints where helm is, with which the tests render the chart: HELM, one on the PATH, or one built from its Go module.
set -euo pipefail

if [ -n "${HELM:-}" ]; then echo "$HELM"; exit; fi
if command -v helm; then exit; fi
"$(dirname "$0")/go_program.sh" helm.sh/helm/v3/cmd/helm v3.19.0
