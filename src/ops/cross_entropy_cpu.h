#pragma once

#include <cstdint>
#include <limits>

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

/// What is known of a row of logits whose parts come one after the other, in the order of their columns.
struct RowSums {
  double largest = -std::numeric_limits<double>::infinity();
  double sum = 0;        ///< of exp(logit - largest)
  double total = 0;      ///< of the logits
  double wanted = 0;     ///< the logit of the target
  bool correct = false;  ///< so far the target is the lowest id of the largest logits
};

/// The next `columns` logits of the row.  @param target  its place in this part, which it may be outside of
void add_to_row_sums(const float* logits, int64_t columns, int64_t target, RowSums& sums);

/// The loss of the row, all of whose `n_classes` logits were added: that of cross_entropy_row but for rounding.
RowLoss loss_of_row_sums(const RowSums& sums, int64_t n_classes, float label_smoothing);

/// Turns a part of the row into gradients, as in cross_entropy_row_gradient.  @param target  as above
void logits_to_gradient(float* logits, int64_t columns, int64_t target, const RowSums& sums, int64_t n_classes,
                        const LossOptions& options);

}  // namespace dragoman::ops
