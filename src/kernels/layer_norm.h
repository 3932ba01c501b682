#pragma once

#include "kernels/types.h"

namespace dragoman::kernels {

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

}  // namespace dragoman::kernels
