#pragma once

#include <cstdint>

#include "ops/product_kernel.h"

namespace dragoman::ops {

/// A product of float32 matrices as the kernel sees it: sizes are at least 1, strides count floats between rows as
/// stored.
struct GemmArguments {
  const float* a;
  int64_t a_stride;
  bool a_transposed;
  const float* b;
  int64_t b_stride;
  bool b_transposed;
  float* c;
  int64_t c_stride;
  int64_t rows, columns, depth;
  const float* bias = nullptr;  ///< [columns], added to each row
  ProductKernel kernel = ProductKernel::kFloat32;
};

/// C = op(A) op(B) + bias.
void gemm_kernel(const GemmArguments& product);
/// C += op(A) op(B) + bias.
void gemm_kernel_accumulate(const GemmArguments& product);

}  // namespace dragoman::ops
