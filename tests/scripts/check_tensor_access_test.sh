#!/bin/sh
# scripts/check_tensor_access.sh must accept transfers and refuse pointers to tensor memory above ops.
#   check_tensor_access_test.sh REPOSITORY
set -eu
export LC_ALL=C.UTF-8  # text is UTF-8, numbers have a point, order is that of bytes
check="$1/scripts/check_tensor_access.sh"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/kernels" "$folder/ops" "$folder/nn" "$folder/models/decoder"

# expect STATUS TEXT DESCRIPTION: runs the check and compares its status; TEXT must occur in its output.
expect() {
  status=0
  output=$("$check" "$folder") || status=$?
  if [ "$status" -ne "$1" ] || ! printf '%s' "$output" | grep -qF "$2"; then
    echo "$3: expected status $1 and '$2', seen status $status and: $output"
    exit 1
  fi
}

echo 'float* y = x.data<float>();' >"$folder/kernels/a.cpp"
echo 'float* y = x.data<float>();' >"$folder/ops/a.cpp"
echo 'const void* y = x.device_data();' >"$folder/models/decoder/key_value_cache.h"
echo 'std::span<float> y = HostEdit<float>(x).span(); z.data();' >"$folder/nn/a.cpp"
expect 0 "only kernels" "transfers, and pointers where they are allowed"

for pointer in 'x.data<float>()' 'x->span<int32_t>()' 'x.raw_data()' 'x.device_data()' 'x.template data<T>()'; do
  echo "use($pointer);" >"$folder/nn/b.cpp"
  expect 1 "nn/b.cpp:1:" "$pointer"
done
