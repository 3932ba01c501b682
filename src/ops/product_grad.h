#pragma once

#include "ops/types.h"

namespace dragoman::ops {

/// Writes op(A) op(B) into a gradient buffer, or adds it if `grad.accumulate` is set; see `gemm`.
void gemm_to_grad(const autograd::GradTarget& grad, const Tensor& a, Transpose transpose_a, const Tensor& b,
                  Transpose transpose_b, Precision precision = Precision::kFloat32);

/// Adds op(A) op(B) to the gradient of `variable`, directly in its buffer. Does nothing unless it requires a gradient.
void add_product_to_grad(const Variable& variable, const Tensor& a, Transpose transpose_a, const Tensor& b,
                         Transpose transpose_b, Precision precision = Precision::kFloat32);

/// Adds the sum of the rows of `grad_output` to the gradient of a bias. Does nothing unless it requires a gradient.
/// @param bias  [Dout];  @param grad_output  [N, Dout]
void add_bias_grad(const Variable& bias, const Tensor& grad_output);

}  // namespace dragoman::ops
