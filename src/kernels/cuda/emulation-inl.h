#pragma once

// CUDA's words for a host compiler, over emulation.h. For *.cu only.

#include <cmath>

#include "kernels/cuda/emulation.h"

// NOLINTBEGIN: the words are CUDA's.
#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __shared__ static
#define __launch_bounds__(...)
#define DRAGOMAN_DYNAMIC_SHARED(T, name) \
  T* const name = static_cast<T*>(dragoman::kernels::cuda::emulation::dynamic_shared())
#define threadIdx (dragoman::kernels::cuda::emulation::thread_index())
#define blockIdx (dragoman::kernels::cuda::emulation::block_index())
#define blockDim (dragoman::kernels::cuda::emulation::block_size())
#define gridDim (dragoman::kernels::cuda::emulation::grid_size())

using dim3 = dragoman::kernels::cuda::emulation::Index;
struct alignas(16) float4 {
  float x, y, z, w;
};
struct alignas(16) uint4 {
  uint32_t x, y, z, w;
};

inline void __syncthreads(std::source_location place = std::source_location::current()) {
  dragoman::kernels::cuda::emulation::wait_for_block(place);
}
inline void __syncwarp(unsigned lanes = dragoman::kernels::cuda::emulation::kWholeWarp) {
  dragoman::kernels::cuda::emulation::wait_for_warp(lanes);
}
template <typename T>
T __shfl_xor_sync(unsigned lanes, T value, int mask) {
  return dragoman::kernels::cuda::emulation::exchange_value(
      value, dragoman::kernels::cuda::emulation::lane_of_thread() ^ mask, lanes);
}
template <typename T>
T __shfl_sync(unsigned lanes, T value, int lane) {
  return dragoman::kernels::cuda::emulation::exchange_value(value, lane, lanes);
}
inline uint32_t __umulhi(uint32_t a, uint32_t b) {
  return static_cast<uint32_t>((static_cast<uint64_t>(a) * b) >> 32U);
}
inline uint32_t __float_as_uint(float value) {
  uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}
inline float __uint_as_float(uint32_t bits) {
  float value = 0;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}
// NOLINTEND
