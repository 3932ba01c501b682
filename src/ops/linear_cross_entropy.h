#pragma once

#include "ops/cross_entropy.h"
#include "ops/packed_weight.h"

namespace dragoman::ops {

/// The loss of linear_cross_entropy and the sums over its tokens, which are not scaled. On a device that is not waited
/// for they are pending: kernels::settle reads them.
struct LossResult : kernels::TokenLosses {
  Variable loss;  ///< scalar: gradient_scale * summed label-smoothed cross-entropy in nats
};

/// Computes the output layer and its loss together, without holding all logits:
///   loss = cross_entropy(hidden weight^T + bias, targets, options)
/// Tokens are processed in chunks of at most 256 (LogitChunks). If AMX multiplies a packed copy, the classes of a chunk
/// are processed in parts too (LogitParts). When a tape records, the gradients of a chunk are computed while its logits
/// are in the cache. The gradient of hidden is kept for the backward. The gradients of weight and bias are added to
/// their buffers in this call. Therefore the gradient that arrives at `loss` must be 1: call Tape::backward(loss)
/// without a scale, and put 1 / tokens into options.gradient_scale.
/// @param hidden  [N, D] float32 or float64;  @param weight  [V, D] (the embedding table if tied). Products use its
/// packed copy, if there is one, in its precision
/// @param bias  [V] or undefined;  @param targets  [N] int32, each in [0, V)
/// Saves for backward: the gradient of hidden, 4*N*D bytes.   Gradients: hidden, weight, bias.
/// Throws: Error for widths that differ and targets outside [0, V); in backward "linear_cross_entropy: the gradient of
/// the loss is 0.5, must be 1; use gradient_scale".
LossResult linear_cross_entropy(const Variable& hidden, const Weight& weight, const Variable& bias,
                                const Tensor& targets, const LossOptions& options);

}  // namespace dragoman::ops
