#pragma once

// What kernels share: rows of matrices in float32 or bfloat16, dropout masks, and sums over warps and blocks.
// For *.cu only.

#include "kernels/cuda/kernel_language-inl.h"
#include "kernels/cuda/views.h"

namespace dragoman::kernels::cuda {

__device__ __forceinline__ float widen(float value) {
  return value;
}
__device__ __forceinline__ float widen(BFloat16 value) {
  return __uint_as_float(static_cast<uint32_t>(value.bits) << 16U);
}

template <typename T>
__device__ __forceinline__ T narrow(float value);
template <>
__device__ __forceinline__ float narrow<float>(float value) {
  return value;
}
// To nearest even, as tensor::to_bfloat16.
template <>
__device__ __forceinline__ BFloat16 narrow<BFloat16>(float value) {
  const uint32_t bits = __float_as_uint(value);
  if (value != value) {
    return {static_cast<uint16_t>((bits >> 16U) | 0x0040U)};
  }
  return {static_cast<uint16_t>((bits + 0x7FFFU + ((bits >> 16U) & 1U)) >> 16U)};
}

/// Returns: exp(x), with an error of about 2^-21 * (1 + |x| / 8) on a GPU.
__device__ __forceinline__ float fast_exp(float x) {
#if defined(__CUDA_ARCH__)
  return __expf(x);
#else
  return expf(x);
#endif
}

/// Eight neighbouring columns of a row: what one Philox block masks.
inline constexpr int kGroup = 8;
struct Eight {
  float v[kGroup];
};

/// Returns: the first of the eight columns of a group.
template <typename T>
__device__ __forceinline__ T* at(const Matrix<T>& matrix, int64_t row, int64_t group) {
  return matrix.data + row * matrix.stride + group * kGroup;
}

__device__ __forceinline__ bool is_aligned(const void* address) {
  return (reinterpret_cast<uintptr_t>(address) & 15U) == 0;
}

// Zeros past `count`.
__device__ __forceinline__ Eight load8(const float* from, int64_t count) {
  Eight x = {};
  if (count >= kGroup && is_aligned(from)) {
    const float4 low = *reinterpret_cast<const float4*>(from), high = *reinterpret_cast<const float4*>(from + 4);
    return {{low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w}};
  }
  for (int i = 0; i < kGroup; ++i) {
    x.v[i] = i < count ? from[i] : 0.0F;
  }
  return x;
}
__device__ __forceinline__ Eight load8(const BFloat16* from, int64_t count) {
  Eight x = {};
  if (count >= kGroup && is_aligned(from)) {
    const uint4 words = *reinterpret_cast<const uint4*>(from);
    const uint32_t pairs[4] = {words.x, words.y, words.z, words.w};
    DRAGOMAN_UNROLL
    for (int i = 0; i < 4; ++i) {
      x.v[2 * i] = __uint_as_float(pairs[i] << 16U);
      x.v[2 * i + 1] = __uint_as_float(pairs[i] & 0xFFFF0000U);
    }
    return x;
  }
  for (int i = 0; i < kGroup; ++i) {
    x.v[i] = i < count ? widen(from[i]) : 0.0F;
  }
  return x;
}

__device__ __forceinline__ void store8(const Eight& x, float* to, int64_t count) {
  if (count >= kGroup && is_aligned(to)) {
    *reinterpret_cast<float4*>(to) = {x.v[0], x.v[1], x.v[2], x.v[3]};
    *reinterpret_cast<float4*>(to + 4) = {x.v[4], x.v[5], x.v[6], x.v[7]};
    return;
  }
  for (int i = 0; i < kGroup; ++i) {
    if (i < count) {
      to[i] = x.v[i];
    }
  }
}
__device__ __forceinline__ void store8(const Eight& x, BFloat16* to, int64_t count) {
  if (count >= kGroup && is_aligned(to)) {
    uint32_t pairs[4];
    DRAGOMAN_UNROLL
    for (int i = 0; i < 4; ++i) {
      pairs[i] = narrow<BFloat16>(x.v[2 * i]).bits | static_cast<uint32_t>(narrow<BFloat16>(x.v[2 * i + 1]).bits)
                                                         << 16U;
    }
    *reinterpret_cast<uint4*>(to) = {pairs[0], pairs[1], pairs[2], pairs[3]};
    return;
  }
  for (int i = 0; i < kGroup; ++i) {
    if (i < count) {
      to[i] = narrow<BFloat16>(x.v[i]);
    }
  }
}

struct PhiloxWords {
  uint32_t word[4];
};

// base::philox4x32 with the counter of kernels::Dropout.
// volatile: a load that moves out of loops takes a register of the whole kernel.
__device__ __forceinline__ uint32_t step_of(const Mask& mask) {
  uint32_t step = mask.step;
  if (mask.step_on_device != nullptr) {
    step |= *static_cast<const volatile uint32_t*>(mask.step_on_device);
  }
  return step;
}

__device__ __forceinline__ PhiloxWords mask_words(const Mask& mask, uint32_t row, uint32_t group) {
  uint32_t c0 = group, c1 = mask.first_row + row, c2 = mask.site, c3 = step_of(mask);
  uint32_t key0 = mask.key0, key1 = mask.key1;
  DRAGOMAN_UNROLL
  for (int round = 0; round < 10; ++round) {
    const uint32_t low0 = 0xD2511F53U * c0, high0 = __umulhi(0xD2511F53U, c0);
    const uint32_t low1 = 0xCD9E8D57U * c2, high1 = __umulhi(0xCD9E8D57U, c2);
    c0 = high1 ^ c1 ^ key0;
    c1 = low1;
    c2 = high0 ^ c3 ^ key1;
    c3 = low0;
    key0 += 0x9E3779B9U;
    key1 += 0xBB67AE85U;
  }
  return {{c0, c1, c2, c3}};
}

__device__ __forceinline__ float mask_factor(const Mask& mask, const PhiloxWords& words, int half) {
  const uint32_t half_word = (words.word[half / 2] >> (half % 2 * 16)) & 0xFFFFU;
  return half_word >= mask.threshold ? mask.scale : 0.0F;
}

/// Returns: the dropout factor of element (row, column).
__device__ __forceinline__ float mask_factor(const Mask& mask, uint32_t row, uint32_t column) {
  return mask_factor(mask, mask_words(mask, row, column / kGroup), static_cast<int>(column % kGroup));
}

/// Multiplies columns 8 * group .. of a row by their dropout factors.
__device__ __forceinline__ void drop8(const Mask& mask, int64_t row, int64_t group, Eight& x) {
  if (mask.threshold == 0) {
    return;
  }
  const PhiloxWords words = mask_words(mask, static_cast<uint32_t>(row), static_cast<uint32_t>(group));
  DRAGOMAN_UNROLL
  for (int i = 0; i < kGroup; ++i) {
    x.v[i] *= mask_factor(mask, words, i);
  }
}

struct Sum {
  template <typename T>
  __device__ T operator()(T a, T b) const {
    return a + b;
  }
};
struct Largest {
  template <typename T>
  __device__ T operator()(T a, T b) const {
    return a > b ? a : b;
  }
};

/// Returns in every lane: the values of the warp, combined in a fixed order.
template <typename T, typename Combine>
__device__ __forceinline__ T over_warp(T value, Combine combine) {
  DRAGOMAN_UNROLL
  for (int lanes = kWarp / 2; lanes > 0; lanes /= 2) {
    value = combine(value, __shfl_xor_sync(kAllLanes, value, lanes));
  }
  return value;
}

/// Returns in every thread: the values of the block, combined in a fixed order. All threads of the block must come.
/// Requires: whole warps.
template <typename T, typename Combine>
__device__ T over_block(T value, Combine combine) {
  __shared__ T of_warp[kWarp];
  value = over_warp(value, combine);
  if (threadIdx.x % kWarp == 0) {
    of_warp[threadIdx.x / kWarp] = value;
  }
  __syncthreads();
  value = of_warp[0];
  for (unsigned warp = 1; warp < blockDim.x / kWarp; ++warp) {
    value = combine(value, of_warp[warp]);
  }
  __syncthreads();  // before the next call writes
  return value;
}

__device__ __forceinline__ int lane_number() {
  return static_cast<int>(threadIdx.x % kWarp);
}
__device__ __forceinline__ int warp_number() {
  return static_cast<int>(threadIdx.x / kWarp);
}

}  // namespace dragoman::kernels::cuda
