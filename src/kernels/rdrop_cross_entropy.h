#pragma once

#include <cstdint>

#include "kernels/cross_entropy.h"

namespace dragoman::kernels {

/// The log-sum-exps and divergences of one token in two passes. p and q are the softmax of its two rows of logits.
struct RdropRow {
  double log_sum_exp_p = 0;  ///< of the logits of the first pass
  double log_sum_exp_q = 0;  ///< of the logits of the second pass
  double kl_pq = 0;          ///< KL(p || q) = sum_v p[v] (log p[v] - log q[v]), in nats
  double kl_qp = 0;          ///< KL(q || p)
};

/// The sums over the parts of two rows of logits seen so far, x of the first pass and y of the second. Parts arrive in
/// the order of their columns.
struct RdropSums {
  RowSums p, q;
  double difference_p = 0;  ///< sum of exp(x - p.largest) (x - y)
  double difference_q = 0;  ///< sum of exp(y - q.largest) (x - y)
};

/// The options of rdrop_row_gradient.
struct RdropRowGradient {
  int64_t target = 0;     ///< index of the target among the given logits; it may lie outside
  int64_t n_classes = 0;  ///< of the whole row
  float label_smoothing = 0;
  double cross_entropy_scale = 1;  ///< factor on each pass's cross-entropy
  double divergence_scale = 0;     ///< factor on KL(p || q) + KL(q || p)
};

}  // namespace dragoman::kernels
