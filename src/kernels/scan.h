#pragma once

#include <span>

#include "kernels/types.h"

namespace dragoman::kernels {

/// A running mean of the rows of each sentence:  y_t = keep_t * y_{t-1} + (1 - keep_t) * x_t, element by element.
struct ScanForward {
  const Tensor& keep;                ///< [N, D], each in [0, 1]
  const Tensor& x;                   ///< [N, D]
  const Tensor& initial;             ///< [B, D], y before the first row; undefined is zero
  std::span<const int32_t> offsets;  ///< [B + 1]
  Tensor& y;                         ///< [N, D], overwritten
};

/// The backward of a scan:  g_t = grad_y_t + keep_{t+1} * g_{t+1}.
struct ScanBackward {
  const Tensor& keep;
  const Tensor& x;
  const Tensor& initial;
  std::span<const int32_t> offsets;
  const Tensor& y;
  const Tensor& grad_y;  ///< [N, D]
  Tensor& grad_keep;     ///< [N, D], overwritten with g_t * (y_{t-1} - x_t)
  Tensor& grad_x;        ///< [N, D], overwritten with g_t * (1 - keep_t)
};

}  // namespace dragoman::kernels
