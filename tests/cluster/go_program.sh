#!/usr/bin/env bash
# Builds a Go program once for each version, outside the clone, and prints where it is: go_program.sh PACKAGE VERSION
set -euo pipefail
package=$1 version=$2
name=${package##*/}

folder=${XDG_CACHE_HOME:-$HOME/.cache}/kubectl-envoyfilter-tests/$name-$version
if [ ! -x "$folder/$name" ]; then
  GOBIN=$folder nice -n 10 go install -trimpath -ldflags "-s -w" "$package@$version" >&2
fi
echo "$folder/$name"
