#pragma once

#include "ops/gemm.h"

namespace dragoman::ops::reference {

/// C = op(A) op(B) (+ C if `accumulate`) in plain float64 loops; the definition of ops::gemm. Shapes are checked there.
void gemm(const Tensor& a, Transpose transpose_a, const Tensor& b, Transpose transpose_b, Tensor& c, bool accumulate);

}  // namespace dragoman::ops::reference
