#pragma once

// A thread for each of `count` elements. For *.cu only.

#include "kernels/cuda/kernel_language-inl.h"

namespace dragoman::kernels::cuda {

template <typename Op>
__global__ void each_element(Op op, int64_t count) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count) {
    op(i);
  }
}

/// Calls op(i) on the device for each i below `count`.  @param name  for errors
template <typename Op>
void for_each(const char* name, const Op& op, int64_t count) {
  constexpr unsigned kThreads = 256;
  launch(name, each_element<Op>, {dim3(blocks_for(count, kThreads)), kThreads}, op, count);
}

}  // namespace dragoman::kernels::cuda
