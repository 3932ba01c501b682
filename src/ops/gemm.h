#pragma once

#include "ops/types.h"

namespace dragoman::ops {

/// Computes the matrix product  C = op(A) op(B), op(X) = X or X^T.
/// @param a  [M, K], or [K, M] with Transpose::kYes;  @param b  [K, N], or [N, K];  @param c  [M, N]
/// All three are float32 (kernel) or float64 (plain loops). Rows may be strided, as in column views. In
/// Precision::kBFloat16, a and b may each be bfloat16, which gives the product of the same numbers in float32.
/// @param precision  of the operands while float32 matrices are multiplied; sums are always float32
/// With AMX, a float32 number is multiplied as three bfloat16, to the accuracy of float32. An infinite operand then
/// gives NaN. K = 0 gives zeros. The bits of a row of C depend on that row of op(A) and on B alone, for any M.
/// Requires: c does not overlap a or b.
/// Throws: Error naming the argument: "gemm: b is [3, 4], must be [5, 4]".
void gemm(const Tensor& a, Transpose transpose_a, const Tensor& b, Transpose transpose_b, Tensor& c,
          Precision precision = Precision::kFloat32);

/// Computes C += op(A) op(B); see `gemm`.
void gemm_accumulate(const Tensor& a, Transpose transpose_a, const Tensor& b, Transpose transpose_b, Tensor& c,
                     Precision precision = Precision::kFloat32);

/// Computes C = op(A) op(B) + bias in each row, in one pass.  @param bias  [N], contiguous; see `gemm`.
void gemm_bias(const Tensor& a, Transpose transpose_a, const Tensor& b, Transpose transpose_b, const Tensor& bias,
               Tensor& c, Precision precision = Precision::kFloat32);

/// Computes C = max(0, A B + bias) in one pass.  @param bias  [N], contiguous; see `gemm`.
/// Requires: the backend multiplies_with_relu.
void gemm_relu(const Tensor& a, const Tensor& b, const Tensor& bias, Tensor& c,
               Precision precision = Precision::kFloat32);

}  // namespace dragoman::ops
