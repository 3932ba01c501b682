#pragma once

#include <cstdint>

namespace dragoman::kernels {

/// Names the part of a product that causal attention does not need. With d = SmallGemm::diagonal:
enum class Triangle {
  kNone,
  kLowerA,  ///< a(i, k) is 0 for k > i + d: such terms are left out
  kUpperA,  ///< a(i, k) is 0 for k < i + d: such terms are left out
  kUpperC,  ///< c[i][j] with j < i + d is not needed: it may be computed or left unchanged
};

/// Describes c[i][j] = (accumulate ? c[i][j] : 0) + sum_k a(i, k) * b[k][j] for matrices that fit into the cache, as
/// one attention head does. Element (i, k) of a is a[i * a_row + k * a_column], so that a may be transposed. Rows of b
/// and c are dense. Zeros of a that `triangle` names are read if they share a tile with other elements. The kernel is
/// in small_gemm-inl.h.
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
  Triangle triangle = Triangle::kNone;
  int64_t diagonal = 0;
};

}  // namespace dragoman::kernels
