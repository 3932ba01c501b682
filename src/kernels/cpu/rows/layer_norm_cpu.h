#pragma once

#include "kernels/dropout.h"
#include "kernels/layer_norm.h"

namespace dragoman::kernels {

void layer_norm_float32(const LayerNormForward& norm);
void layer_norm_backward_float32(const LayerNormBackward& norm);

/// layer_norm_backward_float32 of a sum with dropout(sublayer); grad_sublayer [N, D] = grad_x * mask, float32 or
/// bfloat16, overwritten.
void residual_dropout_layer_norm_backward_float32(const LayerNormBackward& norm, const Dropout& dropout,
                                                  Tensor& grad_sublayer);

/// sum = residual + dropout(sublayer), all [N, D] float32; sublayer may be bfloat16.
void residual_dropout_float32(const Tensor& residual, const Tensor& sublayer, const Dropout& dropout, Tensor& sum);

/// Both in one pass over the rows; `norm.x` is `sum`.
void residual_dropout_layer_norm_float32(const Tensor& residual, const Tensor& sublayer, const Dropout& dropout,
                                         Tensor& sum, const LayerNormForward& norm);

}  // namespace dragoman::kernels
