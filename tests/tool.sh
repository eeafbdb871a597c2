#!/usr/bin/env bash
# Prints the path of a program in Rust that checks need: `tool.sh NAME VERSION [OPTION…]`. One that is not installed is built once
# for each version, outside the clone: some minutes. OPTIONs are those of `cargo install`.
set -euo pipefail
name=$1 version=$2
shift 2

if command -v "$name"; then
  exit 0
fi
folder=${XDG_CACHE_HOME:-$HOME/.cache}/kubectl-envoyfilter-tests/$name-$version
if [ ! -x "$folder/bin/$name" ]; then
  building=$(mktemp -d)
  trap 'rm -rf "$building"' EXIT
  CARGO_TARGET_DIR=$building cargo install "$name@$version" --locked --quiet --root "$folder" "$@" >&2
fi
printf '%s\n' "$folder/bin/$name"
