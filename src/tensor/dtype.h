#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace dragoman::tensor {

/// Element types. float64 exists for checks only: ops run their reference loops on it.
enum class DType : uint8_t { kFloat32, kBFloat16, kInt8, kInt32, kBool, kFloat64 };

/// "float32", "bfloat16", ...
std::string_view dtype_name(DType dtype);

/// Bytes of one element.
size_t dtype_bytes(DType dtype);

/// Storage type of bfloat16: the upper half of a float32.
struct BFloat16 {
  uint16_t bits;
};

template <typename T>
struct DTypeOf;
template <>
struct DTypeOf<float> {
  static constexpr DType value = DType::kFloat32;
};
template <>
struct DTypeOf<BFloat16> {
  static constexpr DType value = DType::kBFloat16;
};
template <>
struct DTypeOf<int8_t> {
  static constexpr DType value = DType::kInt8;
};
template <>
struct DTypeOf<int32_t> {
  static constexpr DType value = DType::kInt32;
};
template <>
struct DTypeOf<bool> {
  static constexpr DType value = DType::kBool;
};
template <>
struct DTypeOf<double> {
  static constexpr DType value = DType::kFloat64;
};

}  // namespace dragoman::tensor
