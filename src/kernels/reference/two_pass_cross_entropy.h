#pragma once

#include "kernels/two_pass_cross_entropy.h"

namespace dragoman::kernels::reference {

// The definition of the row operations in kernels/cpu/output/two_pass_cross_entropy_cpu.h, in plain float64 loops.

void add_to_two_pass_sums(const double* logits_p, const double* logits_q, int64_t columns, int64_t target,
                          TwoPassSums& sums);
void two_pass_row_gradient(const TwoPassRow& row, const TwoPassRowGradient& options, int64_t columns, double* logits_p,
                           double* logits_q);

}  // namespace dragoman::kernels::reference
