#pragma once

#include "ops/activation.h"

namespace dragoman::ops::reference {

/// The kernels of ops/activation_cpu.h in plain float64 loops: their definition.
void activation(const Tensor& x, Activation activation, const Dropout& dropout, Tensor& y);
void activation_backward(const Tensor& saved, const Tensor& grad_y, Activation activation, const Dropout& dropout,
                         Tensor& grad_x);

}  // namespace dragoman::ops::reference
