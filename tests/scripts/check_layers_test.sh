#!/bin/sh
# scripts/check_layers.sh must accept what the table allows and refuse the rest.
#   check_layers_test.sh REPOSITORY
set -eu
export LC_ALL=C.UTF-8  # text is UTF-8, numbers have a point, order is that of bytes
check="$1/scripts/check_layers.sh"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/base" "$folder/ops" "$folder/nn"
touch_pair() {  # a header and a source that includes it
  : >"$folder/$1.h"
  printf '#include "%s.h"\n' "$1" >"$folder/$1.cpp"
}

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
: >"$folder/ops/add.h"
printf '#include "ops/add.h"\n#include "base/error.h"\n' >"$folder/nn/linear.h"
expect 0 "3 files, 3 includes, 0 against" "allowed directly and through a row"

printf '\n  #include "nn/linear.h"\n' >"$folder/base/error.h"
expect 1 'base/error.h:2: base may not include nn' "base includes nn"

printf '#include "linear.h"\n' >"$folder/base/error.h"
expect 1 'has no folder' "include without folder"

printf '#include "tests/support.h"\n' >"$folder/base/error.h"
expect 1 'is in no folder of the table' "src includes tests"

rm "$folder/base/error.h"

mkdir -p "$folder/decoding/search" "$folder/decoding/steps"
printf '#include "decoding/steps/cache.h"\n' >"$folder/decoding/search/beam.h"
expect 1 'decoding/search/beam.h:1: decoding/search may not include decoding/steps' "an arrow up between sub-folders"
printf '#include "decoding/search/beam.h"\n' >"$folder/decoding/steps/cache.h"
: >"$folder/decoding/search/beam.h"
expect 0 "0 against" "an arrow down between sub-folders"
mkdir "$folder/decoding/other"
: >"$folder/decoding/other/x.h"
expect 1 'sub-folder decoding/other has no row' "sub-folder without a row"
rm -r "$folder/decoding"

touch_pair ops/mul
touch_pair ops/sum
expect 0 "0 against" "sources with headers of their own"
printf '#include "ops/sum.h"\n' >>"$folder/ops/mul.cpp"
expect 0 "0 against" "one stem uses another"
printf '#include "ops/mul.h"\n' >>"$folder/ops/sum.h"
expect 1 'circle of stems: ' "a circle of two stems, through a source and a header"
: >"$folder/ops/sum.h"
printf '#include "ops/mul.h"\n' >"$folder/ops/sum_rows.cpp"
expect 1 'circle of stems: ' "a circle through a source that belongs to another header"
: >"$folder/ops/sum_rows.cpp"
expect 0 "0 against" "a source named after the header that declares it"
: >"$folder/ops/orphan.cpp"
expect 1 'ops/orphan.cpp: has no header' "a source that no header declares"
rm "$folder/ops/orphan.cpp"

mkdir "$folder/unknown"
: >"$folder/unknown/x.cpp"
expect 1 'folder unknown has no row' "folder without a row"
echo "check_layers: all cases as expected"
