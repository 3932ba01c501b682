#pragma once

#include <algorithm>
#include <cmath>

#include "tensor/tensor.h"

namespace dragoman::test_support {

/// Returns: `matrix` with each head of each row rounded to multiples of its scale, its largest magnitude / 127.
inline tensor::Tensor rounded_heads(const tensor::Tensor& matrix, int64_t d_head) {
  tensor::Tensor rounded = matrix.clone();
  for (int64_t row = 0; row < matrix.dim(0); ++row) {
    for (int64_t begin = 0; begin < matrix.dim(1); begin += d_head) {
      float* head = rounded.data<float>() + row * rounded.stride(0) + begin;
      float largest = 0.0F;
      for (int64_t c = 0; c < d_head; ++c) {
        largest = std::max(largest, std::abs(head[c]));
      }
      const float scale = largest / 127.0F;
      for (int64_t c = 0; c < d_head; ++c) {
        head[c] = scale == 0.0F ? 0.0F : std::nearbyint(head[c] * (1.0F / scale)) * scale;
      }
    }
  }
  return rounded;
}

}  // namespace dragoman::test_support
