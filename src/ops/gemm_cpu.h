#pragma once

#include <cstdint>

namespace dragoman::ops {

/// A float32 product as the kernel sees it: sizes are at least 1, strides count floats between rows as stored.
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
};

/// C = op(A) op(B) + bias.
void gemm_float32(const GemmArguments& product);
/// C += op(A) op(B) + bias.
void gemm_float32_accumulate(const GemmArguments& product);

}  // namespace dragoman::ops
