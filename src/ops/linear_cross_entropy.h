#pragma once

#include "ops/cross_entropy.h"
#include "ops/packed_weight.h"

namespace dragoman::ops {

struct LossResult {
  Variable loss;        ///< scalar: gradient_scale * summed label-smoothed cross-entropy in nats
  double nll = 0;       ///< sum of -log p(target) in nats, neither smoothed nor scaled: log of the perplexity per token
  int64_t correct = 0;  ///< tokens whose most probable class (lowest id of equals) is the target
};

/// The output layer and its loss in one, without ever holding all logits:
///   loss = cross_entropy(hidden weight^T + bias, targets, options)
/// Tokens go through in chunks of at most 256 (LogitChunks); where a packed copy is multiplied by AMX, the classes of a
/// chunk do too, in parts (LogitParts). When a tape records, the gradients of a chunk are computed at once while its
/// logits are in cache: the gradient of hidden is kept for the backward pass, the gradients of weight and bias are
/// added to their buffers in this very call. Therefore the gradient that arrives at `loss` must be 1: call
/// Tape::backward(loss) without a scale and put 1 / tokens into options.gradient_scale.
/// @param hidden  [N, D] float32 or float64;  @param weight  [V, D] (the embedding table when tied); the
/// products use its packed copy where there is one, in its precision
/// @param bias  [V] or undefined;  @param targets  [N] int32, each in [0, V)
/// Saves for backward: the gradient of hidden, 4*N*D bytes.   Gradients: hidden, weight, bias.
/// Throws Error: widths that differ, targets outside [0, V), and in backward "linear_cross_entropy: the gradient of the
/// loss is 0.5, must be 1; use gradient_scale".
LossResult linear_cross_entropy(const Variable& hidden, const Weight& weight, const Variable& bias,
                                const Tensor& targets, const LossOptions& options);

}  // namespace dragoman::ops
