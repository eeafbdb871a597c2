#!/usr/bin/env bash
# Prints where the CustomResourceDefinitions of OpenReports are: a file of their Go module, which Go checks against go.sum.
set -euo pipefail
cd "$(dirname "$0")"
command -v go >/dev/null || { echo "the definitions of OpenReports come from a Go module, and Go is not here" >&2; exit 1; }
go mod download github.com/openreports/reports-api >&2
echo "$(go list -m -f '{{.Dir}}' github.com/openreports/reports-api)/config/install.yaml"
