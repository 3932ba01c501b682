#pragma once

#include "kernels/activation.h"
#include "kernels/dropout.h"
#include "kernels/gated_activation.h"
#include "kernels/types.h"

namespace dragoman::kernels::reference {

/// Returns 1 / (1 + exp(-x)).
[[nodiscard]] double sigmoid(double x);

// The definition of the kernels in kernels/cpu/rows/activation_cpu.h, in plain float64 loops.
void activation(const Tensor& x, Activation activation, const Dropout& dropout, Tensor& y);
void activation_backward(const Tensor& saved, const Tensor& grad_y, Activation activation, const Dropout& dropout,
                         Tensor& grad_x);
void gated_activation(const GatedInputs& inputs, Tensor& y);
void gated_activation_backward(const GatedInputs& inputs, const Tensor& grad_y, const GatedGradients& gradients);

}  // namespace dragoman::kernels::reference
