#!/bin/bash
# Compares libdragoman.so with the stored ABI: its functions, and the types that include/dragoman.h gives them.
#   scripts/check_abi.sh [LIBRARY [STORED]]   LIBRARY: build/src/c_api/libdragoman.so by default
#                                             STORED: tests/c_api/libdragoman.abi by default
#   scripts/check_abi.sh --update [LIBRARY]   stores the ABI of LIBRARY
# A change that only adds (functions, fields at the end of a struct) is stored with --update. Any other one breaks programs
# that were compiled before: then SOVERSION in src/c_api/CMakeLists.txt rises too.
# Needs abidiff (Debian: apt-get install abigail-tools). Status 1 for a difference, 2 for wrong use, 77
# without abidiff and on other processors than x86-64.
set -euo pipefail
export LC_ALL=C.UTF-8  # text is UTF-8, numbers have a point, order is that of bytes
root=$(realpath "$(dirname "$0")/..")
update=''
if [ "${1:-}" = --update ]; then update=yes; shift; fi
library=${1:-"$root/build/src/c_api/libdragoman.so"}
stored=${2:-"$root/tests/c_api/libdragoman.abi"}

[ "$(uname -m)" = x86_64 ] || { echo "check_abi.sh: the stored ABI is that of x86_64"; exit 77; }
command -v abidiff >/dev/null || { echo "check_abi.sh: no abidiff; on Debian: apt-get install abigail-tools"; exit 77; }
[ -e "$library" ] || { echo "check_abi.sh: $library is not there; build the target dragoman_c" >&2; exit 2; }

# The ABI of a library as text, without what depends on the place of the build.
dump() {  # LIBRARY FILE
  abidw --headers-dir "$root/include" --drop-private-types --exported-interfaces-only --no-show-locs --no-corpus-path \
    --no-comp-dir-path --no-elf-needed --out-file "$2" "$1"
}

if [ -n "$update" ]; then
  dump "$library" "$stored"
  echo "check_abi.sh: stored in $stored"
  exit 0
fi
fresh=$(mktemp)
trap 'rm -f "$fresh"' EXIT
dump "$library" "$fresh"
if difference=$(abidiff "$stored" "$fresh"); then
  echo "check_abi.sh: $library has the stored ABI"
else
  echo "$difference"
  echo "check_abi.sh: $library has another ABI than $stored. If functions or fields at the end were added, run" \
    "scripts/check_abi.sh --update; otherwise raise SOVERSION in src/c_api/CMakeLists.txt too" >&2
  exit 1
fi
