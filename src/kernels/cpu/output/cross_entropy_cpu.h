#pragma once

#include <cstdint>
#include <limits>

#include "kernels/cross_entropy.h"

namespace dragoman::kernels {

/// The formula of ops::cross_entropy for one row of logits.
RowLoss cross_entropy_row(const float* logits, int64_t n_classes, int32_t target, float label_smoothing);

/// The same loss; the logits are replaced by their gradients, with one exponential for both:
///   gradient_scale * (softmax(logits)[v] - epsilon / V - (v == target ? 1 - epsilon : 0))
RowLoss cross_entropy_row_gradient(float* logits, int64_t n_classes, int32_t target, const LossOptions& options);

/// The next `columns` logits of the row.  @param target  its place in this part, which it may be outside of
void add_to_row_sums(const float* logits, int64_t columns, int64_t target, RowSums& sums);

/// The loss of the row, all of whose `n_classes` logits were added: that of cross_entropy_row but for rounding.
RowLoss loss_of_row_sums(const RowSums& sums, int64_t n_classes, float label_smoothing);

/// Turns a part of the row into gradients, as in cross_entropy_row_gradient.  @param target  as above
void logits_to_gradient(float* logits, int64_t columns, int64_t target, const RowSums& sums, int64_t n_classes,
                        const LossOptions& options);

}  // namespace dragoman::kernels
