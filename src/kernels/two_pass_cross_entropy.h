#pragma once

#include <cstdint>

#include "kernels/cross_entropy.h"
#include "kernels/types.h"

namespace dragoman::kernels {

/// The log-sum-exps and divergences of one token in two passes. p and q are the softmax of its two rows of logits.
struct TwoPassRow {
  double log_sum_exp_p = 0;  ///< of the logits of the first pass
  double log_sum_exp_q = 0;  ///< of the logits of the second pass
  double kl_pq = 0;          ///< KL(p || q) = sum_v p[v] (log p[v] - log q[v]), in nats
  double kl_qp = 0;          ///< KL(q || p)
};

/// The sums over the parts of two rows of logits seen so far, x of the first pass and y of the second. Parts arrive in
/// the order of their columns.
struct TwoPassSums {
  RowSums p, q;
  double difference_p = 0;  ///< sum of exp(x - p.largest) (x - y)
  double difference_q = 0;  ///< sum of exp(y - q.largest) (x - y)
};

/// The options of two_pass_row_gradient.
struct TwoPassRowGradient {
  int64_t target = 0;     ///< index of the target among the given logits; it may lie outside
  int64_t n_classes = 0;  ///< of the whole row
  float label_smoothing = 0;
  double scale_p = 1;           ///< factor on CE(p)
  double scale_q = 1;           ///< factor on CE(q)
  double divergence_scale = 0;  ///< factor on KL(p || q) + reverse * KL(q || p)
  double reverse = 1;
};

/// The losses of two passes.
enum class TwoPassLoss {
  kRdrop,   ///< both passes learn the target, and each distribution is drawn to the other (Wu et al. 2021)
  kSimCut,  ///< the first pass learns the target; the second saw fewer words (Gao et al. 2022)
};

/// The terms of a loss: first * CE(p) + second * CE(q) + alpha * divergence * (KL(p || q) + reverse * KL(q || p))
struct TwoPassWeights {
  double first = 0.5, second = 0.5;
  double divergence = 0.25;
  double reverse = 1;

  /// Returns: the sum of both cross-entropies in their shares.
  double of_passes(double p, double q) const { return first * p + second * q; }
  /// Returns: the weighted mean of the two divergences of a token, in nats.
  double mean_divergence(const TwoPassRow& row) const { return (row.kl_pq + reverse * row.kl_qp) / (1 + reverse); }
};

/// The options of a loss of two passes.
struct TwoPassOptions {
  LossOptions cross_entropy;  ///< label smoothing, and the factor on the whole loss
  double alpha = 5;           ///< weight of the divergence as in the paper, >= 0; 0 = the cross-entropy alone
  TwoPassLoss loss = TwoPassLoss::kRdrop;

  TwoPassWeights weights() const { return loss == TwoPassLoss::kRdrop ? TwoPassWeights{} : TwoPassWeights{1, 0, 1, 0}; }
  /// Returns: the factor on TwoPassLosses::divergence in the loss, the factor on the whole loss not counted.
  double divergence_weight() const { return alpha * weights().divergence * (1 + weights().reverse); }
  /// Returns: the options of the gradient of one token. @param target  index of the target among the given logits
  TwoPassRowGradient row_gradient(int64_t target, int64_t n_classes) const {
    const TwoPassWeights of = weights();
    const double scale = cross_entropy.gradient_scale;
    return {target,           n_classes,         cross_entropy.label_smoothing,
            scale * of.first, scale * of.second, scale * alpha * of.divergence,
            of.reverse};
  }
};

/// The sums of the losses of several tokens, added in the order of the tokens.
struct TwoPassLosses {
  double smoothed = 0;  ///< label-smoothed cross-entropy: R-Drop, mean of both passes; SimCut, the first; not scaled
  double nll = 0;       ///< of -log p(target), as `smoothed`
  double divergence =
      0;  ///< in nats, without alpha, not scaled: R-Drop, (KL(p || q) + KL(q || p)) / 2; SimCut, KL(p || q)
  int64_t correct = 0;  ///< tokens whose most probable class in the first pass is the target
  Tensor pending;       ///< [4] float64: parts of the sums above, in their order; see TokenLosses

  void add(const TwoPassRow& row, const RowLoss& loss_p, const RowLoss& loss_q, const TwoPassWeights& weights) {
    smoothed += weights.of_passes(loss_p.smoothed, loss_q.smoothed);
    nll += weights.of_passes(loss_p.nll, loss_q.nll);
    divergence += weights.mean_divergence(row);
    correct += loss_p.correct ? 1 : 0;
  }
  /// Adds what was pending.  @param numbers  the elements of `pending`
  void take(std::span<const double> numbers) {
    smoothed += numbers[0];
    nll += numbers[1];
    divergence += numbers[2];
    correct += static_cast<int64_t>(numbers[3]);
    pending = {};
  }
};

/// A block of tokens that the model saw twice.
struct TwoPassBlock {
  Tensor& logits;         ///< [2C, V]: C rows of the first pass, then those of the second
  const Tensor& targets;  ///< [C] int32
  const TwoPassOptions& options;
  bool with_gradient;  ///< the logits are overwritten with their gradients
};

}  // namespace dragoman::kernels
