#!/usr/bin/env bash
# Checks what is linked into the product with cargo-deny. Licences, bans and sources always; advisories where their database can be
# reached.
set -euo pipefail
version=0.20.2
database=https://github.com/RustSec/advisory-db

deny=$("$(dirname "$0")/tool.sh" cargo-deny "$version")
"$deny" check licenses bans sources
if timeout 30 git ls-remote --exit-code "$database" HEAD >/dev/null 2>&1; then
  "$deny" check advisories
else
  printf '\n!! %s cannot be reached: advisories were NOT checked\n' "$database" >&2
fi
