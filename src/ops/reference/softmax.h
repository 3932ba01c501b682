#pragma once

#include "tensor/tensor.h"

namespace dragoman::ops::reference {

using tensor::Tensor;

// float64 matrices; the definition that the kernels of ops/softmax_cpu.h are tested against. All overwrite.

void softmax(const Tensor& x, Tensor& probs);
void log_softmax(const Tensor& x, Tensor& log_probs);
void softmax_backward(const Tensor& probs, const Tensor& grad_output, Tensor& grad);
void log_softmax_backward(const Tensor& log_probs, const Tensor& grad_output, Tensor& grad);

}  // namespace dragoman::ops::reference
