#pragma once

#include "kernels/dropout.h"
#include "kernels/layer_norm.h"

namespace dragoman::kernels {

/// Computes y = (x - mean) * rstd * gain + bias for each row, and its stats; without the mean in NormKind::kRms.
void layer_norm_float32(const LayerNormForward& norm);
/// Computes the gradients of x, gain and bias from the stats of the forward.
void layer_norm_backward_float32(const LayerNormBackward& norm);

/// Computes layer_norm_backward_float32 for a sum with dropout(sublayer), and grad_sublayer = grad_x * mask.
/// @param grad_sublayer  [N, D] float32 or bfloat16, overwritten
void residual_dropout_layer_norm_backward_float32(const LayerNormBackward& norm, const Dropout& dropout,
                                                  Tensor& grad_sublayer);

/// Computes sum = residual + dropout(sublayer), all [N, D] float32; sublayer may be bfloat16.
void residual_dropout_float32(const Tensor& residual, const Tensor& sublayer, const Dropout& dropout, Tensor& sum);

/// Computes residual_dropout_float32 and layer_norm_float32 in one pass over the rows. Requires: `norm.x` is `sum`.
void residual_dropout_layer_norm_float32(const Tensor& residual, const Tensor& sublayer, const Dropout& dropout,
                                         Tensor& sum, const LayerNormForward& norm);

}  // namespace dragoman::kernels
