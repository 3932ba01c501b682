#!/bin/bash
# scripts/check_abi.sh finds a field that moved, a function that left, and symbols that are no functions of dragoman.h.
#   check_abi_test.sh ROOT LIBRARY        status 77 without abidiff
set -euo pipefail
export LC_ALL=C.UTF-8
root=$1
library=$2
if ! command -v abidiff >/dev/null || [ "$(uname -m)" != x86_64 ]; then
  echo "no abidiff for this processor"
  exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures=0

expect_difference() {  # NAME PART: the ABI in $folder/stored.abi is not that of the library
  local status=0 text
  text=$("$root/scripts/check_abi.sh" "$library" "$folder/stored.abi" 2>&1) || status=$?
  if [ $status -ne 1 ] || ! grep -qF -- "$2" <<<"$text"; then
    echo "$1: expected status 1 and '$2', seen $status: $text"
    failures=$((failures + 1))
  fi
}

stored="$root/tests/c_api/libdragoman.abi"
sed "s/<data-member access='public' layout-offset-in-bits='128'>/<data-member access='public' layout-offset-in-bits='160'>/" \
  "$stored" >"$folder/stored.abi"
expect_difference "a moved field" "offset changed from 160 to 128"
sed "s/dragoman_version/dragoman_gone/g" "$stored" >"$folder/stored.abi"
expect_difference "a function that is gone" "dragoman_gone"

declared=$(grep -oE '\bdragoman_[a-z_]+\(' "$root/include/dragoman.h" | tr -d '(' | sort -u)
exported=$(nm -D --defined-only "$library" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort -u)
if [ "$declared" != "$exported" ]; then
  echo "the header declares other functions than the library exports:"
  diff <(echo "$declared") <(echo "$exported") || true
  failures=$((failures + 1))
fi
exit $((failures > 0))
