#pragma once

#include "kernels/activation.h"
#include "kernels/dropout.h"
#include "kernels/types.h"

namespace dragoman::kernels {

/// Computes y = dropout(activation(x)), all [N, D], float32 or all bfloat16.
void activation_cpu(const Tensor& x, Activation activation, const Dropout& dropout, Tensor& y);

/// Overwrites grad_x = grad_y * scales * activation'(x).  @param saved  y for kRelu, x for the others
void activation_backward_cpu(const Tensor& saved, const Tensor& grad_y, Activation activation, const Dropout& dropout,
                             Tensor& grad_x);

}  // namespace dragoman::kernels
