#!/usr/bin/env bash
# Builds the test cluster once for each state of its sources, outside the clone, and prints the folder it is in:
# the program (cluster) and Istio's CRDs (crds.yaml). Needs Go; the first build takes some minutes.
set -euo pipefail
cd "$(dirname "$0")"
command -v go >/dev/null || { echo "the test cluster is built with Go (1.26 or newer), which is not here" >&2; exit 1; }

key=$(cat go.mod go.sum ./*.go <(go version) | sha256sum | cut -c1-16)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/kubectl-envoyfilter-tests
folder=$cache/cluster-$key
mkdir -p "$cache"
# Tests that start side by side build it once.
if command -v flock >/dev/null; then
  exec 9>"$cache/cluster.lock"
  flock 9
fi
if [ ! -x "$folder/cluster" ]; then
  new=$(mktemp -d "$cache/building.XXXXXX")
  trap 'rm -rf "$new"' EXIT
  version=$(go list -m -f '{{.Version}}' k8s.io/kubernetes)
  nice -n 10 go build -p=2 -trimpath -ldflags "-s -w -X k8s.io/component-base/version.gitVersion=$version" -o "$new/cluster" . >&2
  # No package of istio.io/api is built, so on a machine that has not seen it the module has no folder yet.
  go mod download istio.io/api >&2
  install -m 644 "$(go list -m -f '{{.Dir}}' istio.io/api)/kubernetes/customresourcedefinitions.gen.yaml" "$new/crds.yaml"
  # Whoever was faster has built the same.
  mv -T "$new" "$folder" 2>/dev/null || true
fi
echo "$folder"
