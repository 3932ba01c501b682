#pragma once

#include <cstdint>

#include "ops/cross_entropy.h"

namespace dragoman::ops {

/// The loss of one token.
struct RowLoss {
  double smoothed = 0;     ///< (1 - epsilon) * nll + epsilon * mean over all classes of -log p, in nats
  double nll = 0;          ///< -log p(target), in nats
  double log_sum_exp = 0;  ///< of the logits
  bool correct = false;    ///< the target is the lowest id of the largest logits
};

/// The formula of ops::cross_entropy for one row of logits.
RowLoss cross_entropy_row(const float* logits, int64_t n_classes, int32_t target, float label_smoothing);

/// The same loss; the logits are replaced by their gradients, with one exponential for both:
///   gradient_scale * (softmax(logits)[v] - epsilon / V - (v == target ? 1 - epsilon : 0))
RowLoss cross_entropy_row_gradient(float* logits, int64_t n_classes, int32_t target, const LossOptions& options);

}  // namespace dragoman::ops
