#pragma once

#include "kernels/two_pass_cross_entropy.h"
#include "ops/cross_entropy.h"
#include "ops/packed_weight.h"

namespace dragoman::ops {

using kernels::TwoPassOptions;

/// The loss of two_pass_cross_entropy and the sums over its tokens.
struct TwoPassResult : kernels::TwoPassLosses {
  Variable loss;  ///< scalar: the loss to be minimised
};

/// Computes the output layer and a loss of two passes together. The model has seen every sentence twice, under two
/// dropout masks. With p_n = softmax(first[n] weight^T + bias) and q_n = softmax(second[n] weight^T + bias),
///   R-Drop: loss = gradient_scale * sum_n { (CE(p_n) + CE(q_n)) / 2 + alpha / 4 * (KL(p_n || q_n) + KL(q_n || p_n)) }
///   SimCut: loss = gradient_scale * sum_n { CE(p_n) + alpha * KL(p_n || q_n) }
/// where CE is the label-smoothed cross-entropy of ops::cross_entropy. For SimCut, random words of the second pass had
/// no embedding (nn::ForwardContext::word_cut). R-Drop is half the loss of its paper. Alpha keeps its meaning, and the
/// loss stays comparable with the loss of one pass. As in ops::linear_cross_entropy, tokens are
/// processed in chunks, here of 128 with the logits of both passes. With AMX and a weight packed in bfloat16, the
/// classes are processed in parts. Gradients are computed in the forward, so that the gradient that arrives at `loss`
/// must be 1.
/// @param first, second  [N, D] float32 or float64; row n of both belongs to the same token;  @param weight  [V, D]
/// @param bias  [V] or undefined;  @param targets  [N] int32, each in [0, V)
/// Saves for backward: the gradients of first and second, 8*N*D bytes.   Gradients: first, second (both distributions
/// move, as in the code of the authors of both), weight, bias.
/// Throws: Error, "two_pass_cross_entropy: second is [3, 4], must be [2, 4]", "two_pass_cross_entropy: alpha is -1,
/// must be
/// >= 0 and finite"; in backward as linear_cross_entropy does.
/// Source: Wu et al. 2021, "R-Drop: Regularized Dropout for Neural Networks", equations 2 to 4 (arXiv 2106.14448).
/// Gao et al. 2022, "Bi-SimCut: A Simple Strategy for Boosting Neural Machine Translation" (arXiv 2206.02368).
TwoPassResult two_pass_cross_entropy(const Variable& first, const Variable& second, const Weight& weight,
                                     const Variable& bias, const Tensor& targets, const TwoPassOptions& options);

}  // namespace dragoman::ops
