#!/usr/bin/env bash
# Builds helm once from its Go module, outside the clone, and prints where it is: the tests render the chart with it.
# HELM names another one; a helm on the PATH is taken as it is.
set -euo pipefail
version=v3.19.0

if [ -n "${HELM:-}" ]; then echo "$HELM"; exit; fi
if command -v helm; then exit; fi
folder=${XDG_CACHE_HOME:-$HOME/.cache}/kubectl-envoyfilter-tests/helm-$version
if [ ! -x "$folder/helm" ]; then
  GOBIN=$folder nice -n 10 go install -trimpath -ldflags "-s -w" "helm.sh/helm/v3/cmd/helm@$version" >&2
fi
echo "$folder/helm"
