#include "kernels/reference/gemm.h"

namespace dragoman::kernels::reference {

void gemm_accumulate(const Tensor& a, Transpose transpose_a, const Tensor& b, Transpose transpose_b, Tensor& c) {
  const bool a_transposed = transpose_a == Transpose::kYes, b_transposed = transpose_b == Transpose::kYes;
  const int64_t depth = a.dim(a_transposed ? 0 : 1);
  const int64_t a_row = a_transposed ? 1 : a.stride(0), a_depth = a_transposed ? a.stride(0) : 1;
  const int64_t b_depth = b_transposed ? 1 : b.stride(0), b_column = b_transposed ? b.stride(0) : 1;
  for (int64_t i = 0; i < c.dim(0); ++i) {
    double* row = c.data<double>() + i * c.stride(0);
    for (int64_t k = 0; k < depth; ++k) {
      const double factor = a.data<double>()[i * a_row + k * a_depth];
      const double* b_row = b.data<double>() + k * b_depth;
      for (int64_t j = 0; j < c.dim(1); ++j) {
        row[j] += factor * b_row[j * b_column];
      }
    }
  }
}

}  // namespace dragoman::kernels::reference
