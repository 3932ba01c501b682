#pragma once

#include <cstdint>

#include "kernels/product_kernel.h"
#include "tensor/tensor.h"

namespace dragoman::kernels {

/// An operand of a product as stored: float32, or bfloat16 if the kernel multiplies bfloat16.
struct StoredOperand {
  const void* data;
  int64_t stride;   ///< elements between rows as stored
  bool transposed;  ///< the product takes the transpose of what is stored
  tensor::DType dtype = tensor::DType::kFloat32;

  static StoredOperand of(const tensor::Tensor& matrix, bool transposed) {
    return {matrix.raw_data(), matrix.stride(0), transposed, matrix.dtype()};
  }
  const float* floats() const { return static_cast<const float*>(data); }
  const tensor::BFloat16* bfloat16s() const { return static_cast<const tensor::BFloat16*>(data); }
  bool is_float() const { return dtype == tensor::DType::kFloat32; }

  /// Returns: the part that begins at element (row, column) of op(operand).
  StoredOperand at(int64_t row, int64_t column) const {
    const int64_t offset = transposed ? column * stride + row : row * stride + column;
    return {is_float() ? static_cast<const void*>(floats() + offset) : bfloat16s() + offset, stride, transposed, dtype};
  }
};

/// The arguments of a matrix product. Requires: all sizes are at least 1.
struct GemmArguments {
  StoredOperand a, b;
  float* c;
  int64_t c_stride;  ///< floats between rows
  int64_t rows, columns, depth;
  const float* bias = nullptr;  ///< [columns], added to each row
  ProductKernel kernel = ProductKernel::kFloat32;
};

}  // namespace dragoman::kernels
