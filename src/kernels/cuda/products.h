#pragma once

#include "kernels/cuda/views.h"

namespace dragoman::kernels::cuda {

/// C = op(A) op(B) + bias, of which the ReLU may be taken, or C += op(A) op(B), of row-major matrices.
struct Product {
  AnyMatrix a;  ///< [M, K], or [K, M] if transposed
  bool a_transposed;
  AnyMatrix b;  ///< [K, N], or [N, K] if transposed
  bool b_transposed;
  const void* bias;  ///< [N] float32, or bfloat16 for CublasLt if C is; null for none
  AnyMatrix c;       ///< [M, N]
  bool accumulate;
  int64_t rows, columns, depth;  ///< M, N, K
  bool relu = false;             ///< with a bias only
  bool rows_alike = false;       ///< a row of C has the same bits whatever the number of rows
  bool is_int8 = false;          ///< A and B are int8 and B is transposed, C is int32, all at multiples of 16 bytes
};

/// Multiplies with a plain kernel in tiles, for any alignment and stride. Sums are float32, in order of depth.
/// Requires: the product is not int8.
void multiply_plainly(const Product& product);

}  // namespace dragoman::kernels::cuda
