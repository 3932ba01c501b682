#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <type_traits>

#include "tensor/dtype.h"

namespace dragoman::tensor {

/// What is known about one element type.
struct DTypeInfo {
  DType dtype;
  std::string_view name;  ///< in messages: "float32"
  std::string_view tag;   ///< in safetensors files: "F32"
  size_t bytes;           ///< of one element
};

/// The table of all element types, in the order of the enumerators.
inline constexpr std::array<DTypeInfo, 6> kDTypeTable{{{DType::kFloat32, "float32", "F32", 4},
                                                       {DType::kBFloat16, "bfloat16", "BF16", 2},
                                                       {DType::kInt8, "int8", "I8", 1},
                                                       {DType::kInt32, "int32", "I32", 4},
                                                       {DType::kBool, "bool", "BOOL", 1},
                                                       {DType::kFloat64, "float64", "F64", 8}}};

/// Returns the row of `dtype`.
[[nodiscard]] constexpr const DTypeInfo& dtype_info(DType dtype) {
  return kDTypeTable[static_cast<size_t>(dtype)];
}

static_assert(dtype_info(DType::kFloat32).dtype == DType::kFloat32 &&
              dtype_info(DType::kBFloat16).dtype == DType::kBFloat16 &&
              dtype_info(DType::kInt8).dtype == DType::kInt8 && dtype_info(DType::kInt32).dtype == DType::kInt32 &&
              dtype_info(DType::kBool).dtype == DType::kBool && dtype_info(DType::kFloat64).dtype == DType::kFloat64);

/// Calls `visit(std::type_identity<T>{})` with the storage type T of `dtype` and returns the result.
template <typename Visit>
decltype(auto) visit_dtype(DType dtype, Visit visit) {
  switch (dtype) {
    case DType::kBFloat16:
      return visit(std::type_identity<BFloat16>{});
    case DType::kInt8:
      return visit(std::type_identity<int8_t>{});
    case DType::kInt32:
      return visit(std::type_identity<int32_t>{});
    case DType::kBool:
      return visit(std::type_identity<bool>{});
    case DType::kFloat64:
      return visit(std::type_identity<double>{});
    case DType::kFloat32:
      break;
  }
  return visit(std::type_identity<float>{});
}

}  // namespace dragoman::tensor
