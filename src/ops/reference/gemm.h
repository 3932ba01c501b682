#pragma once

#include "ops/gemm.h"

namespace dragoman::ops::reference {

/// C += op(A) op(B) in plain float64 loops; the definition of ops::gemm_accumulate, which checks the shapes.
void gemm_accumulate(const Tensor& a, Transpose transpose_a, const Tensor& b, Transpose transpose_b, Tensor& c);

}  // namespace dragoman::ops::reference
