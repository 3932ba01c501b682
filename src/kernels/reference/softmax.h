#pragma once

#include "kernels/types.h"

namespace dragoman::kernels::reference {

// float64 matrices; the definition that the kernels of kernels/cpu/rows/softmax_cpu.h are tested against. All
// overwrite.

void softmax(const Tensor& x, Tensor& probs);
void log_softmax(const Tensor& x, Tensor& log_probs);
void softmax_backward(const Tensor& probs, const Tensor& grad_output, Tensor& grad);
void log_softmax_backward(const Tensor& log_probs, const Tensor& grad_output, Tensor& grad);

}  // namespace dragoman::kernels::reference
