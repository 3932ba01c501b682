#pragma once

#include "kernels/types.h"

namespace dragoman::kernels::reference {

// The definition of the kernels in kernels/cpu/rows/softmax_cpu.h, on float64 matrices in plain loops. All functions
// overwrite their last argument.

void softmax(const Tensor& x, Tensor& probs);
void log_softmax(const Tensor& x, Tensor& log_probs);
void softmax_backward(const Tensor& probs, const Tensor& grad_output, Tensor& grad);
void log_softmax_backward(const Tensor& log_probs, const Tensor& grad_output, Tensor& grad);

}  // namespace dragoman::kernels::reference
