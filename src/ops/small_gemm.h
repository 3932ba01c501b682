#pragma once

#include <cstdint>

namespace dragoman::ops {

/// c[i][j] = (accumulate ? c[i][j] : 0) + sum_k a(i, k) * b[k][j], for matrices that fit into cache (one attention
/// head). Element (i, k) of a is a[i * a_row + k * a_column], so a may be read transposed; rows of b and c are dense.
/// The kernel is in small_gemm-inl.h.
struct SmallGemm {
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  const float* a = nullptr;
  int64_t a_row = 0;
  int64_t a_column = 1;
  const float* b = nullptr;
  int64_t b_row = 0;
  float* c = nullptr;
  int64_t c_row = 0;
  bool accumulate = false;
};

}  // namespace dragoman::ops
