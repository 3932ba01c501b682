#pragma once

#include "kernels/attention.h"

namespace dragoman::kernels::reference {

// float64; the definition that the kernels of kernels/cpu/attention/attention_cpu.h are tested against. Same contracts,
// but nothing is kept between forward and backward.

void attention_forward(const AttentionInputs& inputs, Tensor& context);
void attention_backward(const AttentionInputs& inputs, const Tensor& grad_context, AttentionGradients& gradients);
void attention_weights_forward(const AttentionInputs& inputs, Tensor& weights);

}  // namespace dragoman::kernels::reference
