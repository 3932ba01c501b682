#pragma once

#include "ops/layer_norm_cpu.h"

namespace dragoman::ops::reference {

/// The kernels of ops/layer_norm_cpu.h in plain float64 loops: their definition.
void layer_norm(const LayerNormForward& norm);
void layer_norm_backward(const LayerNormBackward& norm);
void residual_dropout(const Tensor& residual, const Tensor& sublayer, const Dropout& dropout, Tensor& sum);

}  // namespace dragoman::ops::reference
