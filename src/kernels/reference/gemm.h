#pragma once

#include "kernels/transpose.h"
#include "kernels/types.h"

namespace dragoman::kernels::reference {

/// Computes C += op(A) op(B) in plain float64 loops. This is the definition of ops::gemm_accumulate, which checks the
/// shapes.
void gemm_accumulate(const Tensor& a, Transpose transpose_a, const Tensor& b, Transpose transpose_b, Tensor& c);

}  // namespace dragoman::kernels::reference
