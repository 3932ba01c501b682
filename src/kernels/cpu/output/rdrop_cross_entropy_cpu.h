#pragma once

#include <cstdint>

#include "kernels/cpu/output/cross_entropy_cpu.h"
#include "kernels/rdrop_cross_entropy.h"

namespace dragoman::kernels {

/// Adds the next `columns` logits of both passes.  @param target  index of the target in this part; it may lie outside
void add_to_rdrop_sums(const float* logits_p, const float* logits_q, int64_t columns, int64_t target, RdropSums& sums);

/// Returns: the RdropRow of a token whose logits were all added. The log-sum-exps are taken from its losses.
/// A divergence is a difference, which is below 0 only by rounding:
///   KL(p || q) = sum_v p[v] (x[v] - y[v]) - (log_sum_exp_p - log_sum_exp_q)
RdropRow rdrop_row_of_sums(const RdropSums& sums, const RowLoss& loss_p, const RowLoss& loss_q);

/// Overwrites `columns` logits of both passes with the gradients of
///   cross_entropy_scale * (CE(p) + CE(q)) + divergence_scale * (KL(p || q) + KL(q || p)):
///   grad_p[v] = cross_entropy_scale * (p[v] - wanted[v])
///             + divergence_scale * (p[v] * (log p[v] - log q[v] - KL(p || q)) + p[v] - q[v]),   grad_q alike,
/// where `wanted` is the smoothed target of cross_entropy_row_gradient.
void rdrop_row_gradient(const RdropRow& row, const RdropRowGradient& options, int64_t columns, float* logits_p,
                        float* logits_q);

}  // namespace dragoman::kernels
