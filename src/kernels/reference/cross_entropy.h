#pragma once

#include "kernels/cross_entropy.h"

namespace dragoman::kernels::reference {

// The definition of the row operations in kernels/cpu/output/cross_entropy_cpu.h, in plain float64 loops.

RowLoss cross_entropy_row(const double* logits, int64_t n_classes, int32_t target, float label_smoothing);
RowLoss cross_entropy_row_gradient(double* logits, int64_t n_classes, int32_t target, const LossOptions& options);

}  // namespace dragoman::kernels::reference
