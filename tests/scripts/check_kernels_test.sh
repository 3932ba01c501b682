#!/bin/sh
# scripts/check_kernels.sh must accept kernels within their budgets and refuse others, and warnings. A script stands for
# nvcc, so this needs no CUDA.
#   check_kernels_test.sh REPOSITORY
set -eu
export LC_ALL=C.UTF-8  # text is UTF-8, numbers have a point, order is that of bytes
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/scripts" "$folder/kernels" "$folder/src"
cp "$1/scripts/check_kernels.sh" "$folder/scripts/"
printf '# kernel registers stack spills\n* 64 0 0\nwide 128 8 12\n' >"$folder/scripts/kernel_budgets.txt"
: >"$folder/kernels/rows.cu"

# nvcc prints what is in log.txt, with status 1 if there is a file "broken".
cat >"$folder/nvcc" <<'NVCC'
#!/bin/sh
cat "$(dirname "$0")/log.txt" >&2
[ ! -e "$(dirname "$0")/broken" ]
NVCC
chmod +x "$folder/nvcc"

# uses SYMBOL REGISTERS STACK SPILLS: adds a kernel to the log of nvcc.
uses() {
  {
    echo "ptxas info    : Compiling entry function '$1' for 'sm_90'"
    echo "ptxas info    : Function properties for $1"
    echo "    $3 bytes stack frame, $4 bytes spill stores, 0 bytes spill loads"
    echo "ptxas info    : Used $2 registers, used 1 barriers, 400 bytes cmem[0]"
  } >>"$folder/log.txt"
}

# expect STATUS TEXT DESCRIPTION: runs the check and compares its status; TEXT must occur in its output.
expect() {
  status=0
  output=$(DRAGOMAN_NVCC="$folder/nvcc" DRAGOMAN_KERNELS="$folder/kernels" "$folder/scripts/check_kernels.sh" 90) || status=$?
  if [ "$status" -ne "$1" ] || ! printf '%s' "$output" | grep -qF "$2"; then
    echo "$3: expected status $1 and '$2', seen status $status and: $output"
    exit 1
  fi
}

wide=_ZN12_GLOBAL__N_14wideIfEEvPKT_  # void (anonymous namespace)::wide<float>(float const*)
copy=_ZN12_GLOBAL__N_14copyIfEEvPKT_
uses $wide 128 8 12
uses $copy 64 0 0
expect 0 "kernels: 2 in 2 instances for sm 90, within their budgets" "kernels within their budgets"
uses $copy 65 0 0
expect 1 "copy<float>(float const*), sm_90: 65 registers, must be at most 64" "too many registers"

: >"$folder/log.txt"
uses $wide 129 8 12
expect 1 "wide<float>(float const*), sm_90: 129 registers, must be at most 128" "too many registers for a row of the table"

: >"$folder/log.txt"
uses $wide 1 0 0
uses $copy 1 8 0
expect 1 "8 bytes of stack, must be at most 0" "a stack frame"

: >"$folder/log.txt"
uses $wide 1 8 13
expect 1 "13 bytes of spills, must be at most 12" "spills"

: >"$folder/log.txt"
uses $copy 1 0 0
expect 0 "note: wide has a budget, but there is no such kernel" "a row without a kernel"

uses $wide 1 0 0
echo "rows.cu(3): warning #177-D: variable \"x\" was declared but never referenced" >>"$folder/log.txt"
: >"$folder/broken"
expect 1 "rows.cu does not compile without warnings:" "a warning, which ends nvcc with an error"
expect 1 "warning #177-D" "the warning's text"
rm "$folder/broken"

: >"$folder/log.txt"
expect 1 "nvcc reported no kernels" "no kernels"
rm "$folder/nvcc"
expect 77 "skipped, there is no nvcc" "no nvcc"
echo "check_kernels.sh accepts and refuses what it should"
