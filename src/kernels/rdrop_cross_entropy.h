#pragma once

#include <cstdint>

#include "kernels/cross_entropy.h"
#include "kernels/types.h"

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

/// The options of an R-Drop loss.
struct RdropOptions {
  LossOptions cross_entropy;  ///< label smoothing, and the factor on the whole loss
  double alpha = 5;  ///< weight of the divergence as in the paper, >= 0; 0 = cross-entropy of both passes alone

  /// Returns: the options of the gradient of one token. @param target  index of the target among the given logits
  RdropRowGradient row_gradient(int64_t target, int64_t n_classes) const {
    return {target, n_classes, cross_entropy.label_smoothing, cross_entropy.gradient_scale / 2,
            cross_entropy.gradient_scale * alpha / 4};
  }
};

/// The sums of the R-Drop losses of several tokens, added in the order of the tokens.
struct RdropLosses {
  double smoothed = 0;    ///< label-smoothed cross-entropy, mean of both passes, not scaled
  double nll = 0;         ///< of -log p(target), mean of both passes
  double divergence = 0;  ///< of (KL(p || q) + KL(q || p)) / 2 in nats, without alpha, not scaled
  int64_t correct = 0;    ///< tokens whose most probable class in the first pass is the target

  void add(const RdropRow& row, const RowLoss& loss_p, const RowLoss& loss_q) {
    smoothed += (loss_p.smoothed + loss_q.smoothed) / 2;
    nll += (loss_p.nll + loss_q.nll) / 2;
    divergence += (row.kl_pq + row.kl_qp) / 2;
    correct += loss_p.correct ? 1 : 0;
  }
};

/// A block of tokens that the model saw twice.
struct RdropBlock {
  Tensor& logits;         ///< [2C, V]: C rows of the first pass, then those of the second
  const Tensor& targets;  ///< [C] int32
  const RdropOptions& options;
  bool with_gradient;  ///< the logits are overwritten with their gradients
};

}  // namespace dragoman::kernels
