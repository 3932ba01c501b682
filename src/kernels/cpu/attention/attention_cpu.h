#pragma once

#include "kernels/attention.h"

namespace dragoman::kernels {

/// Overwrites context [Nq, H*Dv] and stats [2, H, Nq]: the largest product q . k of each head and row, and 1 / (sum of
/// exp of the scores less the largest), 0 for a row with nothing to attend to; stats are float32.
void attention_forward(const AttentionInputs& inputs, Tensor& context, Tensor& stats);
/// Overwrites the gradients of the three inputs; computes the weights again with the stats of the forward.
void attention_backward(const AttentionInputs& inputs, Tensor stats, const Tensor& grad_context,
                        AttentionGradients& gradients);
/// Overwrites weights [H, T, S] of the only sentence.
void attention_weights_forward(const AttentionInputs& inputs, Tensor& weights);

}  // namespace dragoman::kernels
