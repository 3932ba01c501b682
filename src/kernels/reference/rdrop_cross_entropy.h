#pragma once

#include "kernels/rdrop_cross_entropy.h"

namespace dragoman::kernels::reference {

// The definition of the row operations in kernels/cpu/output/rdrop_cross_entropy_cpu.h, in plain float64 loops.

void add_to_rdrop_sums(const double* logits_p, const double* logits_q, int64_t columns, int64_t target,
                       RdropSums& sums);
void rdrop_row_gradient(const RdropRow& row, const RdropRowGradient& options, int64_t columns, double* logits_p,
                        double* logits_q);

}  // namespace dragoman::kernels::reference
