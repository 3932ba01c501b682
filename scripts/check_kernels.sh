#!/bin/sh
# Compiles the kernels of NVIDIA GPUs (src/kernels/cuda/*.cu) with nvcc, with warnings as errors, and compares what each
# kernel uses with scripts/kernel_budgets.txt.
#   scripts/check_kernels.sh [--list] [ARCHITECTURE...]     default: 80 90 100
# --list also prints what each kernel uses, in its largest instance. Ends with status 1 if a kernel does not compile,
# has a warning, or uses more registers, stack or spilled bytes than its budget; with 77 if there is no nvcc.
# Environment: DRAGOMAN_NVCC, the compiler; DRAGOMAN_JOBS, compilers at a time (default: all processors);
# DRAGOMAN_KERNELS, the folder of the kernels.
set -eu
export LC_ALL=C.UTF-8  # text is UTF-8, numbers have a point, order is that of bytes
here=$(cd "$(dirname "$0")" && pwd)
kernels=${DRAGOMAN_KERNELS:-"$here/../src/kernels/cuda"}
list=no
case "${1:-}" in
  --list)
    list=yes
    shift
    ;;
  -*)
    echo "check_kernels.sh: unknown option '$1'; known: --list" >&2
    exit 2
    ;;
esac
[ $# -gt 0 ] || set -- 80 90 100

nvcc=${DRAGOMAN_NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
if [ ! -x "$nvcc" ]; then
  echo "check_kernels.sh: skipped, there is no nvcc; install CUDA 13, or name the compiler in DRAGOMAN_NVCC"
  exit 77
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
code=""
for architecture in "$@"; do
  code="$code -gencode arch=compute_$architecture,code=sm_$architecture"
done
export nvcc code work here
# One kernel source: its log is what nvcc says, and FAILED if it ends with an error.
# shellcheck disable=SC2016  # the inner shell expands
find "$kernels" -name '*.cu' | sort | xargs -P "${DRAGOMAN_JOBS:-$(nproc)}" -I {} sh -c '
  log=$work/$(basename "$1").log
  "$nvcc" -std=c++20 -O3 $code -Werror all-warnings -Xptxas -v -Xcompiler=-Wall,-Wextra,-Werror -I"$here/../src" \
    -c "$1" -o "$work/$(basename "$1").o" >"$log" 2>&1 || echo FAILED >>"$log"' sh {}

failed=0
for log in "$work"/*.log; do
  if grep -q '^FAILED$' "$log"; then
    echo "check_kernels.sh: $(basename "$log" .log) does not compile without warnings:"
    grep -vE '^ptxas info|bytes stack frame|^FAILED$' "$log" | head -n 20
    failed=1
  fi
done

# Lines of the mangled name, the architecture, registers, stack and spills of each instance.
cat "$work"/*.log | awk '
  /Compiling entry function/ { split($0, part, "\047"); entry = part[2]; sm = part[4]; stack = spills = 0 }
  /bytes stack frame/ { if ($1 > stack) stack = $1; if ($5 + $9 > spills) spills = $5 + $9 }
  /Used [0-9]+ registers/ {
    for (i = 1; i < NF; ++i) if ($i == "Used") print entry "\t" sm "\t" $(i + 1) "\t" stack "\t" spills
  }' | c++filt | sed 's/(anonymous namespace)/{anonymous}/g' >"$work/uses.txt"

awk -F '\t' -v list="$list" -v architectures="$*" '
  FNR == NR {
    if ($0 !~ /^#/ && split($0, row, " ") == 4) { registers[row[1]] = row[2]; stack[row[1]] = row[3]; spills[row[1]] = row[4] }
    next
  }
  {
    name = $1
    sub(/[<(].*/, "", name)  # arguments, of the template or the function
    sub(/^.*[: ]/, "", name)
    budget = name in registers ? name : "*"
    if ($3 > registers[budget]) complain("registers", $3, registers[budget])
    if ($4 > stack[budget]) complain("bytes of stack", $4, stack[budget])
    if ($5 > spills[budget]) complain("bytes of spills", $5, spills[budget])
    key = name " " $2
    if (!(key in most) || $3 > most[key]) most[key] = $3
    if ($4 > most_stack[key]) most_stack[key] = $4
    if ($5 > most_spills[key]) most_spills[key] = $5
    seen[name]
    ++instances
  }
  function complain(what, value, limit) {
    printf "%s, %s: %d %s, must be at most %d (scripts/kernel_budgets.txt)\n", $1, $2, value, what, limit
    bad = 1
  }
  END {
    if (list == "yes") {
      for (key in most) printf "%-36s %3d registers, stack %d, spills %d\n", key, most[key], most_stack[key], most_spills[key] | "sort"
      close("sort")
    }
    for (name in seen) ++count
    for (name in registers) {
      if (name != "*" && !(name in seen) && !bad) printf "note: %s has a budget, but there is no such kernel\n", name
    }
    if (instances == 0) { print "check_kernels.sh: nvcc reported no kernels"; bad = 1 }
    if (!bad) printf "kernels: %d in %d instances for sm %s, within their budgets\n", count, instances, architectures
    exit bad
  }' "$here/kernel_budgets.txt" "$work/uses.txt" || failed=1
exit $failed
