#pragma once

#include "kernels/activation.h"
#include "kernels/dropout.h"
#include "kernels/gated_activation.h"
#include "kernels/types.h"

namespace dragoman::kernels {

/// Computes y = dropout(activation(x)), all [N, D], float32 or all bfloat16.
void activation_cpu(const Tensor& x, Activation activation, const Dropout& dropout, Tensor& y);

/// Overwrites grad_x = grad_y * scales * activation'(x).  @param saved  y for kRelu, x for the others
void activation_backward_cpu(const Tensor& saved, const Tensor& grad_y, Activation activation, const Dropout& dropout,
                             Tensor& grad_x);

/// Computes y = dropout(activation(gate) * up) in float32, rounded once for bfloat16.
void gated_activation_cpu(const GatedInputs& inputs, Tensor& y);
/// Computes the gradients of gate and up in one pass.
void gated_activation_backward_cpu(const GatedInputs& inputs, const Tensor& grad_y, const GatedGradients& gradients);

}  // namespace dragoman::kernels
