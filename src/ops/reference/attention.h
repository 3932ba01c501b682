#pragma once

#include "ops/attention_cpu.h"

namespace dragoman::ops::reference {

// float64; the definition that the kernels of ops/attention_cpu.h are tested against. Same contracts, but nothing is
// kept between forward and backward.

void attention_forward(const AttentionInputs& inputs, Tensor& context);
void attention_backward(const AttentionInputs& inputs, const Tensor& grad_context, AttentionGradients& gradients);
void attention_weights_forward(const AttentionInputs& inputs, Tensor& weights);

}  // namespace dragoman::ops::reference
