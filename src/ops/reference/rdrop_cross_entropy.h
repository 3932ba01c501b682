#pragma once

#include "ops/rdrop_cross_entropy_cpu.h"

namespace dragoman::ops::reference {

// The row operations of ops/rdrop_cross_entropy_cpu.h in plain double loops; same contracts.

void divergence_row(const double* logits_p, const double* logits_q, int64_t n_classes, RdropRow& row);
void rdrop_row_gradient(const RdropRow& row, const RdropRowGradient& options, int64_t n_classes, double* logits_p,
                        double* logits_q);

}  // namespace dragoman::ops::reference
