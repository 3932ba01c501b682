#pragma once

#include <cstdint>
#include <limits>

#include "kernels/cross_entropy.h"

namespace dragoman::kernels {

/// Computes ops::cross_entropy for one row of logits.
RowLoss cross_entropy_row(const float* logits, int64_t n_classes, int32_t target, float label_smoothing);

/// Computes cross_entropy_row and overwrites the logits with their gradients. Both share one exponential:
///   gradient_scale * (softmax(logits)[v] - epsilon / V - (v == target ? 1 - epsilon : 0))
RowLoss cross_entropy_row_gradient(float* logits, int64_t n_classes, int32_t target, const LossOptions& options);

/// Adds the next `columns` logits of a row.  @param target  index of the target in this part; it may lie outside
void add_to_row_sums(const float* logits, int64_t columns, int64_t target, RowSums& sums);

/// Returns: the loss of a row whose `n_classes` logits were all added. It equals cross_entropy_row up to rounding.
RowLoss loss_of_row_sums(const RowSums& sums, int64_t n_classes, float label_smoothing);

/// Overwrites a part of a row with its gradients, as in cross_entropy_row_gradient.
/// @param target  index of the target in this part; it may lie outside
void logits_to_gradient(float* logits, int64_t columns, int64_t target, const RowSums& sums, int64_t n_classes,
                        const LossOptions& options);

}  // namespace dragoman::kernels
