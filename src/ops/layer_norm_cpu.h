#pragma once

#include "ops/dropout.h"

namespace dragoman::ops {

/// What one layer norm computes. float32 for the kernels here, float64 for those in reference/.
struct LayerNormForward {
  const Tensor& x;     ///< [N, D]
  const Tensor& gain;  ///< [D]
  const Tensor& bias;  ///< [D]
  float epsilon;
  Tensor& y;                  ///< [N, D], overwritten
  Tensor& stats;              ///< [N, 2] mean and 1 / deviation, overwritten
  Tensor* rounded = nullptr;  ///< [N, D] bfloat16: y once more, overwritten; null where nobody asks
};

struct LayerNormBackward {
  const Tensor& x;
  const Tensor& stats;
  const Tensor& gain;
  const Tensor& grad_y;
  Tensor& grad_x;     ///< [N, D], overwritten
  Tensor& grad_gain;  ///< [D], overwritten
  Tensor& grad_bias;  ///< [D], overwritten
};

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

}  // namespace dragoman::ops
