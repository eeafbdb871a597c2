#!/usr/bin/env bash
# Builds the book in `docs` with mdBook, and fails if a page of it is not in its table of contents.
set -euo pipefail
if ! mdbook=$("$(dirname "$0")/tool.sh" mdbook 0.5.4 --no-default-features); then
  printf '\n!! mdBook cannot be built on this machine: the book was NOT built\n' >&2
  exit 0
fi
book=$(mktemp -d)
trap 'rm -rf "$book"' EXIT
"$mdbook" build docs --dest-dir "$book"
for page in docs/src/*.md; do
  name=$(basename "$page" .md)
  [ "$name" = SUMMARY ] && continue
  [ -f "$book/$name.html" ] || { printf '%s is not in docs/src/SUMMARY.md\n' "$page" >&2; exit 1; }
done
