#!/usr/bin/env bash
# Checks what is linked into the product with cargo-deny, which is built once for each version, outside the clone, if it is not
# installed: some minutes. Licences, bans and sources always; advisories where their database can be reached.
set -euo pipefail
version=0.20.2
database=https://github.com/RustSec/advisory-db

deny=$(command -v cargo-deny || true)
if [ -z "$deny" ]; then
  folder=${XDG_CACHE_HOME:-$HOME/.cache}/kubectl-envoyfilter-tests/cargo-deny-$version
  deny=$folder/bin/cargo-deny
  if [ ! -x "$deny" ]; then
    building=$(mktemp -d)
    trap 'rm -rf "$building"' EXIT
    CARGO_TARGET_DIR=$building cargo install "cargo-deny@$version" --locked --quiet --root "$folder" >&2
  fi
fi
"$deny" check licenses bans sources
if timeout 30 git ls-remote --exit-code "$database" HEAD >/dev/null 2>&1; then
  "$deny" check advisories
else
  printf '\n!! %s cannot be reached: advisories were NOT checked\n' "$database" >&2
fi
