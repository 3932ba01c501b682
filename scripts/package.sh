#!/bin/bash
# Makes the Debian packages dragoman, libdragoman0, libdragoman-dev and python3-dragoman, and checks them.
#   scripts/package.sh [--try] [FOLDER]
#   FOLDER   where the packages go (default: build-package/packages)
#   --try    installs them in a clean Debian 12, where a model is trained, translates from the command line and from C, and
#            serves; needs root, mmdebstrap and the network
# python3-dragoman is for Debian's Python. It needs python3-dev, python3-venv, and nanobind from PyPI; without them it is not
# made, and a line says so.
# Without lintian (Debian: apt-get install lintian) packages are not checked, and a line says so.
# DRAGOMAN_JOBS=N limits compilers at a time (default: all processors). Status 1 when a check fails, 2 for wrong use.
set -euo pipefail
export LC_ALL=C.UTF-8  # text is UTF-8, numbers have a point, order is that of bytes
checkout=$(realpath "$(dirname "$0")/..")

fail() { echo "package.sh: $*" >&2; exit 2; }

attempt='' folder=''
while [ $# -gt 0 ]; do
  case "$1" in
    --try) attempt=yes ;;
    -*) fail "unknown option '$1'; known: --try" ;;
    *) [ -z "$folder" ] || fail "one FOLDER only, seen '$folder' and '$1'"; folder=$1 ;;
  esac
  shift
done
build=$checkout/build-package
folder=$(realpath -m "${folder:-$build/packages}")
command -v dpkg-shlibdeps >/dev/null || fail "no dpkg-shlibdeps; on Debian: apt-get install dpkg-dev"
[ -z "$attempt" ] || command -v mmdebstrap >/dev/null || fail "no mmdebstrap; on Debian: apt-get install mmdebstrap"

# Debian's Python with nanobind, which Debian 12 has not.
tools=$build/python-tools
make_tools() {
  [ -e /usr/include/python3.11/Python.h ] && { [ -x "$tools/bin/pip" ] || /usr/bin/python3 -m venv "$tools"; } &&
    "$tools/bin/pip" install --quiet --disable-pip-version-check nanobind numpy
}
python=(-DDRAGOMAN_PYTHON=OFF)
if make_tools; then
  python=(-DDRAGOMAN_PYTHON=ON "-DPython_EXECUTABLE=$tools/bin/python" -DDRAGOMAN_PYTHON_DIR=lib/python3/dist-packages/dragoman)
else
  echo "package.sh: python3-dragoman is not made: it needs python3-dev, python3-venv, and nanobind from PyPI"
fi
cmake -S "$checkout" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=/usr -DDRAGOMAN_TESTS=OFF "${python[@]}"
ninja -C "$build" -j "${DRAGOMAN_JOBS:-$(nproc)}"
mkdir -p "$folder"
rm -f "$folder"/*.deb
(cd "$build" && cpack -G DEB -B "$folder")
rm -rf "$folder/_CPack_Packages"
ls -l "$folder"/*.deb

if command -v lintian >/dev/null; then
  lintian --allow-root --fail-on error "$folder"/*.deb
  echo "package.sh: lintian found no errors"
else
  echo "package.sh: lintian is not installed; the packages are not checked"
fi
[ -z "$attempt" ] || "$checkout/packaging/debian/try_packages.sh" "$folder"
