#pragma once

#include "kernels/activation.h"
#include "kernels/precision.h"
#include "kernels/transpose.h"
#include "kernels/types.h"

namespace dragoman::kernels {

/// A matrix product  C = activation(op(A) op(B) + bias),  or  C += op(A) op(B).  op(X) = X or X^T.
/// Requires: the shapes were checked, and c is not empty and overlaps neither a nor b.
struct GemmProblem {
  const Tensor& a;  ///< [M, K], or [K, M] with Transpose::kYes
  Transpose transpose_a;
  const Tensor& b;  ///< [K, N], or [N, K] with Transpose::kYes
  Transpose transpose_b;
  const Tensor* bias;  ///< [N], may be bfloat16 if c is; null for none
  Tensor& c;           ///< [M, N]; bfloat16 only if `precision` is, and not for the CPU
  bool accumulate;     ///< C += op(A) op(B)
  Precision precision;
  /// kRelu only with a bias, and only if the backend multiplies_with_relu.
  Activation activation = Activation::kNone;
  bool rows_alike = false;  ///< a row of C has the same bits whatever the number of rows

  bool a_transposed() const { return transpose_a == Transpose::kYes; }
  bool b_transposed() const { return transpose_b == Transpose::kYes; }
  int64_t depth() const { return a.dim(a_transposed() ? 0 : 1); }  ///< K
};

}  // namespace dragoman::kernels
