#pragma once

#include <cstdint>

namespace dragoman::ops {

/// What one token gives in two passes, p and q = softmax of its two rows of logits.
struct RdropRow {
  double log_sum_exp_p = 0;  ///< of the logits of the first pass
  double log_sum_exp_q = 0;  ///< of the second
  double kl_pq = 0;          ///< KL(p || q) = sum_v p[v] (log p[v] - log q[v]), in nats
  double kl_qp = 0;          ///< KL(q || p)
};

/// Fills kl_pq and kl_qp of a row whose log_sum_exp are known. The sum of both adds up terms that are never negative;
/// each of them alone is a difference of larger terms.
void divergence_row(const float* logits_p, const float* logits_q, int64_t n_classes, RdropRow& row);

struct RdropRowGradient {
  int32_t target = 0;
  float label_smoothing = 0;
  double cross_entropy_scale = 1;  ///< factor on each pass's cross-entropy
  double divergence_scale = 0;     ///< factor on KL(p || q) + KL(q || p)
};

/// Replaces the logits of both passes by the gradients of
///   cross_entropy_scale * (CE(p) + CE(q)) + divergence_scale * (KL(p || q) + KL(q || p)):
///   grad_p[v] = cross_entropy_scale * (p[v] - wanted[v])
///             + divergence_scale * (p[v] * (log p[v] - log q[v] - KL(p || q)) + p[v] - q[v]),   grad_q alike,
/// wanted being the smoothed target of cross_entropy_row_gradient.
void rdrop_row_gradient(const RdropRow& row, const RdropRowGradient& options, int64_t n_classes, float* logits_p,
                        float* logits_q);

}  // namespace dragoman::ops
