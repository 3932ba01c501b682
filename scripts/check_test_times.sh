#!/bin/bash
# Checks that the label `slow` is true: every test that took longer than 10 seconds carries it.
#   scripts/check_test_times.sh [--seconds N] [BUILD]     BUILD: where ctest ran, build by default
# Reads tests.xml there, which scripts/test.sh has ctest write (`ctest --output-junit tests.xml`). Times of a busy machine
# are too long, so run the tests on an idle one before. Prints each test with a wrong label, status 1 if one is long and
# not labelled. A labelled one that was quick is only named, as another machine may be slower.
set -euo pipefail
export LC_ALL=C.UTF-8  # text is UTF-8, numbers have a point, order is that of bytes

fail() { echo "check_test_times.sh: $*" >&2; exit 2; }

limit=10 build=''
while [ $# -gt 0 ]; do
  case "$1" in
    --seconds)
      [[ "${2:-}" =~ ^[0-9]+([.][0-9]+)?$ ]] || fail "--seconds is '${2:-}', must be a number"
      limit="$2"; shift 2 ;;
    -*) fail "unknown option '$1'; known: --seconds" ;;
    *) build="$1"; shift ;;
  esac
done
build="${build:-"$(dirname "$0")/../build"}"
times="$build/tests.xml"
[ -e "$times" ] || fail "$times is not there; run scripts/test.sh, or ctest --test-dir $build --output-junit tests.xml"

# Not the CTestCostData.txt of ctest: from a second run on, the means in it are too small (CMake 3.25).
{
  ctest --test-dir "$build" -N -L '^slow$' | sed -n 's/^ *Test *#[0-9]*: /slow /p'
  sed -n 's/.*<testcase name="\([^"]*\)".* time="\([0-9.e+-]*\)" status="run".*/time \1 \2/p' "$times"
} | awk -v limit="$limit" '
  $1 == "slow" { slow[$2] = 1; next }
  { tests++; if (!($2 in slow)) quick += $3 }
  $3 > limit && !($2 in slow) { printf "%s took %.1f s and is not labelled slow\n", $2, $3; long_ones++ }
  $3 <= limit && $2 in slow { printf "note: %s is labelled slow and took %.1f s\n", $2, $3 }
  END {
    printf "test times: %d tests, %d above %g s without the label; those without it take %.0f s in all\n", tests,
      long_ones, limit, quick
    exit long_ones > 0
  }'
