#pragma once

#include "ops/gemm.h"
#include "ops/types.h"

namespace dragoman::ops {

/// Computes the matrix product with gradients:  Y = op(A) op(B), op(X) = X or X^T.
/// @param a  [M, K], or [K, M] with Transpose::kYes;  @param b  [K, N], or [N, K].  float32 or float64
/// @return Y [M, N].   Saves a and b for backward (shared, not copied).   Gradients: a, b.
/// Throws: Error, naming the argument: "matmul: b is [3, 4], must be [5, 4]".
Variable matmul(const Variable& a, Transpose transpose_a, const Variable& b, Transpose transpose_b);

}  // namespace dragoman::ops
