#pragma once

#include <cstdint>

namespace dragoman::kernels {

/// The memory that the Adam kernel reads and writes.
struct AdamBuffers {
  float* weights;
  const float* grads;
  float* moment1;
  float* moment2;
  int64_t count;
};

/// The scalars of adam_update, computed once in float64.
struct AdamFactors {
  float beta1, rest1;  ///< rest = 1 - beta
  float beta2, rest2;
  float gradient_scale;
  float rate;        ///< learning rate / (1 - beta1^t)
  float root_scale;  ///< 1 / sqrt(1 - beta2^t)
  float epsilon;
  float keep;  ///< 1 - learning rate * weight decay
};

}  // namespace dragoman::kernels
