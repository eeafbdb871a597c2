#!/usr/bin/env bash
# Prints where the CustomResourceDefinitions of the Flux example are, one file a line: in the Go modules of Flux's controllers, which
# Go checks against go.sum.
set -euo pipefail
cd "$(dirname "$0")"
command -v go >/dev/null || { echo "the definitions of Flux come from Go modules, and Go is not here" >&2; exit 1; }
modules=(github.com/fluxcd/kustomize-controller github.com/fluxcd/source-controller)
go mod download "${modules[@]}" >&2
kinds=(kustomize.toolkit.fluxcd.io_kustomizations source.toolkit.fluxcd.io_gitrepositories)
for at in 0 1; do
  echo "$(go list -m -f '{{.Dir}}' "${modules[at]}")/config/crd/bases/${kinds[at]}.yaml"
done
