#pragma once

#include "kernels/cpu/gemm/gemm_arguments.h"

namespace dragoman::kernels {

/// Computes C = op(A) op(B) + bias.
void gemm_kernel(const GemmArguments& product);
/// Computes C += op(A) op(B) + bias.
void gemm_kernel_accumulate(const GemmArguments& product);

}  // namespace dragoman::kernels
