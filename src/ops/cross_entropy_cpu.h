#pragma once

#include <cstdint>

namespace dragoman::ops {

/// The loss of one token.
struct RowLoss {
  double smoothed = 0;     ///< (1 - epsilon) * nll + epsilon * mean over all classes of -log p, in nats
  double nll = 0;          ///< -log p(target), in nats
  double log_sum_exp = 0;  ///< of the logits; cross_entropy_row_gradient needs it
  bool correct = false;    ///< the target is the lowest id of the largest logits
};

/// The formula of ops::cross_entropy for one row of logits.
RowLoss cross_entropy_row(const float* logits, int64_t n_classes, int32_t target, float label_smoothing);

struct RowGradient {
  int32_t target = 0;
  float label_smoothing = 0;
  double log_sum_exp = 0;
  double scale = 1;
};

/// grad[v] = scale * (softmax(logits)[v] - epsilon / V - (v == target ? 1 - epsilon : 0)), overwritten; `grad` may be
/// `logits`. Differentiates `smoothed` of cross_entropy_row.
void cross_entropy_row_gradient(const float* logits, int64_t n_classes, const RowGradient& options, float* grad);

}  // namespace dragoman::ops
