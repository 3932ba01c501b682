#pragma once

#include "kernels/dropout.h"
#include "kernels/layer_norm.h"

namespace dragoman::kernels::reference {

// The definition of the kernels in kernels/cpu/rows/layer_norm_cpu.h, in plain float64 loops.
void layer_norm(const LayerNormForward& norm);
void layer_norm_backward(const LayerNormBackward& norm);
void residual_dropout(const Tensor& residual, const Tensor& sublayer, const Dropout& dropout, Tensor& sum);

}  // namespace dragoman::kernels::reference
