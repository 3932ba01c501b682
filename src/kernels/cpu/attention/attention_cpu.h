#pragma once

#include "kernels/attention.h"

namespace dragoman::kernels {

/// Overwrites context [Nq, H*Dv] and stats [2, H, Nq] float32. The stats of each head and row are the largest product
/// q . k, and 1 / sum(exp(score - largest score)). The second is 0 for a row with nothing to attend to.
void attention_forward(const AttentionInputs& inputs, Tensor& context, Tensor& stats);
/// Overwrites the gradients of query, key and value. The weights are computed again from the stats of the forward.
void attention_backward(const AttentionInputs& inputs, Tensor stats, const Tensor& grad_context,
                        AttentionGradients& gradients);
/// Overwrites weights [H, T, S]. Requires: exactly one sentence.
void attention_weights_forward(const AttentionInputs& inputs, Tensor& weights);

}  // namespace dragoman::kernels
