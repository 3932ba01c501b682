#!/bin/sh
# Checks that tensor memory is read and written only by `tensor`, `kernels` and `ops` (docs/architecture.md): everything
# above them uses the transfers of src/tensor/transfer.h or a kernel of kernels::Backend.
#   scripts/check_tensor_access.sh [SRC]      SRC: the folder to check, src/ by default
# Prints every line with a pointer to tensor memory (data<, span<, raw_data, device_data) and ends with status 1 if
# there is any. Files that may have such a line are listed below, each with its reason.
set -eu
export LC_ALL=C.UTF-8  # text is UTF-8, numbers have a point, order is that of bytes
src=${1:-"$(dirname "$0")/../src"}
if [ ! -d "$src" ]; then
  echo "check_tensor_access.sh: $src is not a folder; give the path of src/" >&2
  exit 2
fi

# key_value_cache.h  gives addresses in the memory of the device to attention kernels, and reads nothing
allowed='^models/decoder/key_value_cache\.h:'

cd "$src"
found=$(find . -type f \( -name '*.h' -o -name '*.cpp' -o -name '*.inc' \) \
  ! -path './base/*' ! -path './tensor/*' ! -path './kernels/*' ! -path './ops/*' \
  -exec grep -nHE '(\.|->)(template )?((data|span)<|(raw_data|device_data)\()' {} + |
  sed 's|^\./||' | sort | grep -vE "$allowed" || true)
if [ -n "$found" ]; then
  printf '%s\n' "$found"
  echo "check_tensor_access.sh: the lines above touch tensor memory; use tensor/transfer.h or a kernel of kernels::Backend"
  exit 1
fi
echo "tensor access: only kernels, ops and transfers touch tensor memory"
