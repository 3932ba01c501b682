#pragma once

#include "ops/types.h"

namespace dragoman::ops {

/// Matrix product, overwriting:  C = op(A) op(B), op(X) = X or X^T.
/// @param a  [M, K], or [K, M] with Transpose::kYes;  @param b  [K, N], or [N, K];  @param c  [M, N]
/// float32 (kernel) or float64 (plain loops), all three alike; rows may be strided (column views). In
/// Precision::kBFloat16 a and b may be bfloat16, each by itself: the product is that of the same numbers in float32.
/// @param precision  of the operands while float32 matrices are multiplied; the sums are float32 always
/// With AMX float32 is multiplied as three bfloat16 a number, to the accuracy of float32; an infinite operand gives NaN
/// then. K = 0 yields zeros. c must not overlap a or b.
/// The bits of a row of C depend on that row of op(A) and on B alone, whatever M is.
/// Throws Error naming the argument: "gemm: b is [3, 4], must be [5, 4]".
void gemm(const Tensor& a, Transpose transpose_a, const Tensor& b, Transpose transpose_b, Tensor& c,
          Precision precision = Precision::kFloat32);

/// C += op(A) op(B); see `gemm`.
void gemm_accumulate(const Tensor& a, Transpose transpose_a, const Tensor& b, Transpose transpose_b, Tensor& c,
                     Precision precision = Precision::kFloat32);

/// C = op(A) op(B) + bias in each row, in one pass.  @param bias  [N], contiguous; see `gemm`.
void gemm_bias(const Tensor& a, Transpose transpose_a, const Tensor& b, Transpose transpose_b, const Tensor& bias,
               Tensor& c, Precision precision = Precision::kFloat32);

}  // namespace dragoman::ops
