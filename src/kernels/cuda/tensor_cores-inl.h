#pragma once

// Products of 16 x 16 by 16 x 8 fragments of bfloat16 by tensor cores, with float32 sums. A warp has the fragments;
// lane 4 * g + t has parts of rows or columns g and g + 8, and of columns 2 * t, 2 * t + 1, 2 * t + 8 and 2 * t + 9.
// Source: PTX ISA, mma.m16n8k16 with .bf16. For *.cu only.

#include "kernels/cuda/device_math-inl.h"

namespace dragoman::kernels::cuda {

// Two bfloat16, the first in the low half.
__device__ __forceinline__ uint32_t pair_of(float first, float second) {
#if defined(__CUDA_ARCH__)
  uint32_t pair;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
  return pair;
#else
  return narrow<BFloat16>(first).bits | static_cast<uint32_t>(narrow<BFloat16>(second).bits) << 16U;
#endif
}
__device__ __forceinline__ uint32_t pair_of(BFloat16 first, BFloat16 second) {
  return first.bits | static_cast<uint32_t>(second.bits) << 16U;
}

// The parts of a lane: pairs (g, 2t), (g + 8, 2t), (g, 2t + 8), (g + 8, 2t + 8) of 16 rows and 16 columns.
struct FragmentA {
  uint32_t pairs[4];
};
// The parts of a lane: rows 2t and 2t + 8, and the rows after them, of column g.
struct FragmentB {
  uint32_t pairs[2];
};
// The parts of a lane: (g, 2t), (g, 2t + 1), (g + 8, 2t), (g + 8, 2t + 1) of 16 rows and 8 columns.
struct Sums {
  float v[4];
};

#if !defined(__CUDACC__)
inline float low_half(uint32_t pair) {
  return __uint_as_float(pair << 16U);
}
inline float high_half(uint32_t pair) {
  return __uint_as_float(pair & 0xFFFF0000U);
}
#endif

// sums += a * b. All lanes of the warp must come.
__device__ __forceinline__ void add_product(const FragmentA& a, const FragmentB& b, Sums& sums) {
#if defined(__CUDACC__)
#if defined(__CUDA_ARCH__)
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(sums.v[0]), "+f"(sums.v[1]), "+f"(sums.v[2]), "+f"(sums.v[3])
      : "r"(a.pairs[0]), "r"(a.pairs[1]), "r"(a.pairs[2]), "r"(a.pairs[3]), "r"(b.pairs[0]), "r"(b.pairs[1]));
#endif
#else
  // Lane t of each quad in turn has the factors of columns 2t, 2t + 1, 2t + 8 and 2t + 9 of A.
  const int quad = lane_number() / 4 * 4, column = lane_number() % 4 * 2;
  for (int t = 0; t < 4; ++t) {
    for (int half = 0; half < 2; ++half) {
      const uint32_t above = __shfl_sync(kAllLanes, a.pairs[2 * half], quad + t);
      const uint32_t below = __shfl_sync(kAllLanes, a.pairs[2 * half + 1], quad + t);
      for (int j = 0; j < 2; ++j) {
        const uint32_t factors = __shfl_sync(kAllLanes, b.pairs[half], (column + j) * 4 + t);
        sums.v[j] += low_half(above) * low_half(factors) + high_half(above) * high_half(factors);
        sums.v[2 + j] += low_half(below) * low_half(factors) + high_half(below) * high_half(factors);
      }
    }
  }
#endif
}

// Reads four matrices of 8 x 8 from shared memory, transposed. Lane l gives the address of row l % 8 of matrix l / 8,
// and gets of each matrix the elements of rows 2t and 2t + 1 in column g. All lanes of the warp must come.
// Source: PTX ISA, ldmatrix.
__device__ __forceinline__ void read_transposed(const BFloat16* row, uint32_t (&pairs)[4]) {
#if defined(__CUDA_ARCH__)
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(pairs[0]), "=r"(pairs[1]), "=r"(pairs[2]), "=r"(pairs[3])
               : "r"(static_cast<uint32_t>(__cvta_generic_to_shared(row)))
               : "memory");
#elif !defined(__CUDACC__)
  const int column = lane_number() / 4, first = lane_number() % 4 * 2;
  for (int matrix = 0; matrix < 4; ++matrix) {
    const BFloat16* const low = __shfl_sync(kAllLanes, row, matrix * 8 + first);
    const BFloat16* const high = __shfl_sync(kAllLanes, row, matrix * 8 + first + 1);
    pairs[matrix] = pair_of(low[column], high[column]);
  }
#endif
}

}  // namespace dragoman::kernels::cuda
