#!/bin/bash
# Checks that the label `slow` is true: every test that took longer than 10 seconds carries it.
#   scripts/check_test_times.sh [--seconds N] [BUILD]     BUILD: where ctest ran, build by default
# Reads the times that ctest keeps there, the mean of all passed runs. Times of a busy machine are too long, so run
# ctest on an idle one before. Prints each test with a wrong label, status 1 if one is long and not labelled. A
# labelled one that was quick is only named, as another machine may be slower.
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
times="$build/Testing/Temporary/CTestCostData.txt"
[ -e "$times" ] || fail "$times is not there; run ctest --test-dir $build first"

# "NAME RUNS SECONDS" a line, up to a line of dashes; a test that never passed has 0 runs.
ctest --test-dir "$build" -N -L '^slow$' | awk -v limit="$limit" '
  NR == FNR { if ($1 == "Test" && /: /) { sub(/^[^:]*: /, ""); slow[$0] = 1 }; next }
  /^---/ { exit }
  $2 > 0 && $3 > limit && !($1 in slow) { printf "%s took %.1f s and is not labelled slow\n", $1, $3; long_ones++ }
  $2 > 0 && $3 <= limit && $1 in slow { printf "note: %s is labelled slow and took %.1f s\n", $1, $3 }
  $2 > 0 { tests++; if (!($1 in slow)) quick += $3 }
  END {
    printf "test times: %d tests, %d above %g s without the label; those without it take %.0f s in all\n", tests,
      long_ones, limit, quick
    exit long_ones > 0
  }' - "$times"
