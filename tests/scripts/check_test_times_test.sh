#!/bin/bash
# scripts/check_test_times.sh must find a long test without a label, and accept the rest.
#   check_test_times_test.sh REPOSITORY
set -euo pipefail
export LC_ALL=C.UTF-8  # text is UTF-8, numbers have a point, order is that of bytes
check=$(realpath "$1/scripts/check_test_times.sh")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/CTestTestfile.cmake" <<'END'
add_test(quick "true")
add_test(long.avx2 "true")
add_test(labelled "true")
set_tests_properties(labelled PROPERTIES LABELS "slow")
END

# expect STATUS TEXT OPTION...: runs the check and compares its status; TEXT must occur in its output.
expect() {
  local wanted="$1" text="$2" status=0 output
  shift 2
  output=$("$check" "$@" "$folder" 2>&1) || status=$?
  if [ "$status" -ne "$wanted" ] || ! grep -qF -- "$text" <<<"$output"; then
    echo "expected status $wanted and '$text', seen status $status and: $output"
    exit 1
  fi
}

expect 2 "is not there"
# write NAME SECONDS STATUS...: what ctest writes.
write() {
  printf '<?xml version="1.0" encoding="UTF-8"?>\n<testsuite name="Linux"\n' >"$folder/tests.xml"
  printf '\t<testcase name="%s" classname="x" time="%s" status="%s">\n' "$@" >>"$folder/tests.xml"
}
write quick 0.5 run long.avx2 10.4 run labelled 60 run
expect 1 "long.avx2 took 10.4 s and is not labelled slow"
expect 1 "3 tests, 1 above 10 s without the label; those without it take 11 s in all"
expect 0 "3 tests, 0 above 10.5 s" --seconds 10.5
expect 2 "must be a number" --seconds x
write quick 0.5 run long.avx2 10.4 notrun labelled 6 run
expect 0 "note: labelled is labelled slow and took 6.0 s"
expect 0 "2 tests, 0 above 10 s"
echo "check_test_times: all cases as expected"
