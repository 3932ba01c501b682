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

}  // namespace dragoman::kernels
