#!/bin/sh
# scripts/check_layers.sh must accept what the table allows and refuse the rest.
#   check_layers_test.sh REPOSITORY
set -eu
check="$1/scripts/check_layers.sh"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/base" "$folder/ops" "$folder/nn"

# expect STATUS TEXT DESCRIPTION: runs the check and compares its status; TEXT must occur in its output.
expect() {
  status=0
  output=$("$check" "$folder") || status=$?
  if [ "$status" -ne "$1" ] || ! printf '%s' "$output" | grep -qF "$2"; then
    echo "$3: expected status $1 and '$2', seen status $status and: $output"
    exit 1
  fi
}

printf '#include <vector>\n#include "base/error.h"\n' >"$folder/ops/add.cpp"
printf '#include "ops/add.h"\n#include "base/error.h"\n' >"$folder/nn/linear.h"
expect 0 "2 files, 3 includes, 0 against" "allowed directly and through a row"

printf '\n  #include "nn/linear.h"\n' >"$folder/base/error.h"
expect 1 'base/error.h:2: base may not include nn' "base includes nn"

printf '#include "linear.h"\n' >"$folder/base/error.h"
expect 1 'has no folder' "include without folder"

printf '#include "tests/support.h"\n' >"$folder/base/error.h"
expect 1 'is in no folder of the table' "src includes tests"

rm "$folder/base/error.h"
mkdir "$folder/unknown"
: >"$folder/unknown/x.cpp"
expect 1 'folder unknown has no row' "folder without a row"
echo "check_layers: all cases as expected"
