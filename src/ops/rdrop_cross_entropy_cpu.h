#pragma once

#include <cstdint>

#include "ops/cross_entropy_cpu.h"

namespace dragoman::ops {

/// What one token gives in two passes, p and q = softmax of its two rows of logits.
struct RdropRow {
  double log_sum_exp_p = 0;  ///< of the logits of the first pass
  double log_sum_exp_q = 0;  ///< of the second
  double kl_pq = 0;          ///< KL(p || q) = sum_v p[v] (log p[v] - log q[v]), in nats
  double kl_qp = 0;          ///< KL(q || p)
};

/// What is known of the logits of one token in two passes, x of the first and y of the second, whose parts come one
/// after the other, in the order of their columns.
struct RdropSums {
  RowSums p, q;
  double difference_p = 0;  ///< sum of exp(x - p.largest) (x - y)
  double difference_q = 0;  ///< sum of exp(y - q.largest) (x - y)
};

/// The next `columns` logits of both.  @param target  its place in this part, which it may be outside of
void add_to_rdrop_sums(const float* logits_p, const float* logits_q, int64_t columns, int64_t target, RdropSums& sums);

/// The token, all of whose logits were added; log-sum-exps are those of its losses. A divergence is a difference,
///   KL(p || q) = sum_v p[v] (x[v] - y[v]) - (log_sum_exp_p - log_sum_exp_q),
/// which is never below 0 but for rounding.
RdropRow rdrop_row_of_sums(const RdropSums& sums, const RowLoss& loss_p, const RowLoss& loss_q);

struct RdropRowGradient {
  int64_t target = 0;     ///< its place among the logits given, which it may be outside of
  int64_t n_classes = 0;  ///< of the whole row
  float label_smoothing = 0;
  double cross_entropy_scale = 1;  ///< factor on each pass's cross-entropy
  double divergence_scale = 0;     ///< factor on KL(p || q) + KL(q || p)
};

/// Replaces `columns` of the logits of both passes by the gradients of
///   cross_entropy_scale * (CE(p) + CE(q)) + divergence_scale * (KL(p || q) + KL(q || p)):
///   grad_p[v] = cross_entropy_scale * (p[v] - wanted[v])
///             + divergence_scale * (p[v] * (log p[v] - log q[v] - KL(p || q)) + p[v] - q[v]),   grad_q alike,
/// wanted being the smoothed target of cross_entropy_row_gradient.
void rdrop_row_gradient(const RdropRow& row, const RdropRowGradient& options, int64_t columns, float* logits_p,
                        float* logits_q);

}  // namespace dragoman::ops
