#pragma once

#include "ops/attention_cpu.h"

namespace dragoman::ops::reference {

// float64; the definition that the kernels of ops/attention_cpu.h are tested against. Same contracts.

void attention_forward(const AttentionInputs& inputs, Tensor& context, Tensor& log_sum_exp);
void attention_backward_accumulate(const AttentionInputs& inputs, const Tensor& log_sum_exp, const Tensor& grad_context,
                                   AttentionGradients& gradients);
void attention_weights_forward(const AttentionInputs& inputs, Tensor& weights);

}  // namespace dragoman::ops::reference
