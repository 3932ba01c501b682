#pragma once

#include "ops/types.h"

namespace dragoman::ops {

/// Returns: the value of a loss, a scalar of `dtype`: sum_i weights[i] * pending[i], which no one waits for; `known` if
/// nothing is pending (kernels::TokenLosses).
Tensor loss_value(const Tensor& pending, std::span<const double> weights, double known, DType dtype);

/// Computes the label-smoothed cross-entropy in nats, summed over the tokens and multiplied by gradient_scale:
///   p = softmax(logits[n]);  loss_n = (1 - epsilon) * -log p[target] + epsilon * (1 / V) * sum_v -log p[v]
/// The smoothing mass goes to all V classes, the target included, as in PyTorch.
/// @param logits  [N, V] float32 or float64;  @param targets  [N] int32, each in [0, V)
/// @return scalar, of the dtype of the logits. No tokens give 0.
/// Saves for backward: the logits (shared).   Gradient: logits.
/// Throws: Error, "cross_entropy: targets[2] is 50, must be in [0, 50)", "cross_entropy: label_smoothing is 1.5, ...".
/// Source: Szegedy et al. 2016, section 7; Vaswani et al. 2017, section 5.4 (epsilon = 0.1).
Variable cross_entropy(const Variable& logits, const Tensor& targets, const LossOptions& options);

}  // namespace dragoman::ops
