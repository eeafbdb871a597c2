#!/usr/bin/env bash
# Builds istiod (pilot-discovery) of one release from the Go module of Istio, once for each state of its go.mod, outside
# the clone, and prints its path. `build.sh 1.31`; the releases are the folders here. Needs Go; the first build of a
# release takes some minutes.
set -euo pipefail
cd "$(dirname "$0")"
release=${1:?usage: build.sh RELEASE, one of: $(ls -d [0-9]*/ | tr -d / | xargs)}
cd "$release"
command -v go >/dev/null || { echo "istiod is built with Go (1.26 or newer), which is not here" >&2; exit 1; }

key=$(cat go.mod go.sum <(go version) | sha256sum | cut -c1-16)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/kubectl-envoyfilter-tests
folder=$cache/istiod-$release-$key
if [ ! -x "$folder/pilot-discovery" ]; then
  mkdir -p "$cache"
  new=$(mktemp -d "$cache/building.XXXXXX")
  trap 'rm -rf "$new"' EXIT
  # A build from the module says no version; istiod tells it to proxies, and --version to us.
  flags="-s -w -X istio.io/istio/pkg/version.buildVersion=$(cat version)"
  nice -n 10 go build -p=1 -trimpath -ldflags "$flags" -o "$new/pilot-discovery" istio.io/istio/pilot/cmd/pilot-discovery >&2
  mv -T "$new" "$folder" 2>/dev/null || true
fi
echo "$folder/pilot-discovery"
