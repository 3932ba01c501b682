#pragma once

#include "kernels/attention.h"

namespace dragoman::kernels::reference {

// The definition of the kernels in kernels/cpu/attention/attention_cpu.h, in plain float64 loops. The contracts are the
// same, but the backward needs no stats of the forward.

void attention_forward(const AttentionInputs& inputs, Tensor& context);
void attention_backward(const AttentionInputs& inputs, const Tensor& grad_context, AttentionGradients& gradients);
void attention_weights_forward(const AttentionInputs& inputs, Tensor& weights);

}  // namespace dragoman::kernels::reference
