#pragma once

#include "kernels/types.h"

namespace dragoman::kernels {

/// Inputs and outputs of one layer norm. The CPU kernels take float32, the reference takes float64.
struct LayerNormForward {
  const Tensor& x;     ///< [N, D]
  const Tensor& gain;  ///< [D]
  const Tensor& bias;  ///< [D]
  float epsilon;
  Tensor& y;                  ///< [N, D], overwritten
  Tensor& stats;              ///< [N, 2], overwritten: mean, and rstd = 1 / sqrt(variance + epsilon)
  Tensor* rounded = nullptr;  ///< [N, D] bfloat16, overwritten with y rounded; null if not requested
};

/// Inputs and outputs of the backward of one layer norm.
struct LayerNormBackward {
  const Tensor& x;
  const Tensor& stats;  ///< mean and rstd of each row, from the forward
  const Tensor& gain;
  const Tensor& grad_y;
  Tensor& grad_x;     ///< [N, D], overwritten
  Tensor& grad_gain;  ///< [D], overwritten
  Tensor& grad_bias;  ///< [D], overwritten
};

}  // namespace dragoman::kernels
