#pragma once

#include "ops/gemm.h"
#include "ops/types.h"

namespace dragoman::ops {

/// Matrix product with gradients:  Y = op(A) op(B), op(X) = X or X^T.
/// @param a  [M, K], or [K, M] with Transpose::kYes;  @param b  [K, N], or [N, K].  float32 or float64
/// @return Y [M, N].   Saves a and b for backward (shared, not copied).   Gradients: a, b.
/// Throws Error as `gemm` does: "gemm: b is [3, 4], must be [5, 4]".
Variable matmul(const Variable& a, Transpose transpose_a, const Variable& b, Transpose transpose_b);

/// Adds op(A) op(B) to the gradient of `variable`, straight into its buffer. Does nothing unless it asks for one.
void add_product_to_grad(const Variable& variable, const Tensor& a, Transpose transpose_a, const Tensor& b,
                         Transpose transpose_b);

}  // namespace dragoman::ops
