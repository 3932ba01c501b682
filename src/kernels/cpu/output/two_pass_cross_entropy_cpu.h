#pragma once

#include <cstdint>

#include "kernels/cpu/output/cross_entropy_cpu.h"
#include "kernels/two_pass_cross_entropy.h"

namespace dragoman::kernels {

/// Adds the next `columns` logits of both passes.  @param target  index of the target in this part; it may lie outside
void add_to_two_pass_sums(const float* logits_p, const float* logits_q, int64_t columns, int64_t target,
                          TwoPassSums& sums);

/// Returns: the TwoPassRow of a token whose logits were all added. The log-sum-exps are taken from its losses.
/// A divergence is a difference, which is below 0 only by rounding:
///   KL(p || q) = sum_v p[v] (x[v] - y[v]) - (log_sum_exp_p - log_sum_exp_q)
TwoPassRow two_pass_row_of_sums(const TwoPassSums& sums, const RowLoss& loss_p, const RowLoss& loss_q);

/// Overwrites `columns` logits of both passes with the gradients of
///   scale_p * CE(p) + scale_q * CE(q) + divergence_scale * (KL(p || q) + reverse * KL(q || p)):
///   grad_p[v] = scale_p * (p[v] - wanted[v])
///             + divergence_scale * (p[v] * (log p[v] - log q[v] - KL(p || q)) + reverse * (p[v] - q[v]))
///   grad_q[v] = scale_q * (q[v] - wanted[v])
///             + divergence_scale * (reverse * q[v] * (log q[v] - log p[v] - KL(q || p)) + q[v] - p[v])
/// where `wanted` is the smoothed target of cross_entropy_row_gradient.
void two_pass_row_gradient(const TwoPassRow& row, const TwoPassRowGradient& options, int64_t columns, float* logits_p,
                           float* logits_q);

}  // namespace dragoman::kernels
