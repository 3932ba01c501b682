#pragma once

// Products of the kernels of attention by tensor cores: bfloat16 rows, heads of up to 128 columns, a multiple of 8.
// For *.cu only.

#include "kernels/cuda/async_copies-inl.h"
#include "kernels/cuda/attention_places-inl.h"
#include "kernels/cuda/tensor_cores-inl.h"

namespace dragoman::kernels::cuda {

// A block has 32 rows of one sentence and head, or 128, its own rows, and goes over the other side's rows, 32 at a
// time. A warp has 16 of the own rows. Lane 4 * g + t has own rows g and g + 8 and, of each eight others, rows 2 * t
// and 2 * t + 1.
constexpr int kFragmentRows = 16;
constexpr int kFragmentWarps = kTile / kFragmentRows;
constexpr int kLongWarps = kLongTile / kFragmentRows;
constexpr int kOtherEights = kTile / kGroup;

// Scores, weights or gradients of weights: a lane's part of 16 own rows and 32 others.
struct TileSums {
  Sums eights[kOtherEights] = {};
};

__device__ __forceinline__ int lane_row() {
  return lane_number() / 4;
}
__device__ __forceinline__ int lane_pair() {
  return lane_number() % 4;
}

__device__ __forceinline__ float over_quad(float value) {
  value += __shfl_xor_sync(kAllLanes, value, 1);
  return value + __shfl_xor_sync(kAllLanes, value, 2);
}
__device__ __forceinline__ float largest_of_quad(float value) {
  value = fmaxf(value, __shfl_xor_sync(kAllLanes, value, 1));
  return fmaxf(value, __shfl_xor_sync(kAllLanes, value, 2));
}

// The product of eight elements.
__device__ __forceinline__ float dot_words(const uint4& x, const uint4& y) {
  const uint32_t left[4] = {x.x, x.y, x.z, x.w}, right[4] = {y.x, y.y, y.z, y.w};
  float sum = 0;
  DRAGOMAN_UNROLL
  for (int i = 0; i < 4; ++i) {
    sum += __uint_as_float(left[i] << 16U) * __uint_as_float(right[i] << 16U) +
           __uint_as_float(left[i] & 0xFFFF0000U) * __uint_as_float(right[i] & 0xFFFF0000U);
  }
  return sum;
}

// 32 rows of the other side in shared memory. Rows are 16 bytes further apart than they are long. kColumns is at least
// the number of columns of a head; the rest is zero.
template <int kColumns>
struct SharedRows {
  static constexpr int kStride = kColumns + kGroup;
  static constexpr int kElements = kTile * kStride;
  BFloat16* data;

  // Begins to read rows [first, first + 32), zeros past the end; see wait_for_copies.
  __device__ __forceinline__ void read(const HeadRows<BFloat16>& from, int first) const {
    constexpr int kGroups = kColumns / kGroup;
    DRAGOMAN_UNROLL
    for (int i = static_cast<int>(threadIdx.x); i < kTile * kGroups; i += static_cast<int>(blockDim.x)) {
      const int row = i / kGroups, column = i % kGroups * kGroup;
      const bool exists = first + row < from.rows && column < from.columns;
      begin_copy<16>(data + row * kStride + column,
                     exists ? from.first + (first + row) * from.stride + column : from.first, exists);
    }
  }
};

// 16 own rows in registers: eight neighbouring columns of rows g and g + 8 for each 32 columns. A product over columns
// takes the columns in this order on both sides.
template <int kColumns>
struct OwnRows {
  static constexpr int kSpans = kColumns / 32;
  uint4 low[kSpans], high[kSpans];

  __device__ __forceinline__ void read(const HeadRows<BFloat16>& from, int first) {
    DRAGOMAN_UNROLL
    for (int span = 0; span < kSpans; ++span) {
      low[span] = words(from, first + lane_row(), span);
      high[span] = words(from, first + lane_row() + kGroup, span);
    }
  }

  // sums[i] = the products of own rows g and g + 8 with the same rows of `other`, in every lane of a quad.
  __device__ __forceinline__ void dot(const OwnRows& other, float (&sums)[2]) const {
    sums[0] = sums[1] = 0.0F;
    DRAGOMAN_UNROLL
    for (int span = 0; span < kSpans; ++span) {
      sums[0] += dot_words(low[span], other.low[span]);
      sums[1] += dot_words(high[span], other.high[span]);
    }
    sums[0] = over_quad(sums[0]);
    sums[1] = over_quad(sums[1]);
  }

  // products = own rows times the transpose of the others.
  __device__ __forceinline__ void multiply(const SharedRows<kColumns>& others, TileSums& products) const {
    DRAGOMAN_UNROLL
    for (int eight = 0; eight < kOtherEights; ++eight) {
      Sums sums = {};
      DRAGOMAN_UNROLL
      for (int span = 0; span < kSpans; ++span) {
        const uint4 x = low[span], y = high[span];
        const uint4 z = *reinterpret_cast<const uint4*>(
            others.data + (eight * kGroup + lane_row()) * SharedRows<kColumns>::kStride + span * 32 + lane_pair() * 8);
        add_product({{x.x, y.x, x.y, y.y}}, {{z.x, z.y}}, sums);
        add_product({{x.z, y.z, x.w, y.w}}, {{z.z, z.w}}, sums);
      }
      products.eights[eight] = sums;
    }
  }

 private:
  __device__ __forceinline__ static uint4 words(const HeadRows<BFloat16>& from, int row, int span) {
    const int column = span * 32 + lane_pair() * kGroup;
    if (row >= from.rows || column >= from.columns) {
      return {0, 0, 0, 0};
    }
    return *reinterpret_cast<const uint4*>(from.first + row * from.stride + column);
  }
};

// Sums of 16 own rows over the others.
template <int kColumns>
struct RowSums {
  static constexpr int kEights = kColumns / kGroup;
  Sums eights[kEights] = {};

  // Adds weights, rounded to bfloat16, times the other rows.
  __device__ __forceinline__ void add(const TileSums& weights, const SharedRows<kColumns>& others) {
    DRAGOMAN_UNROLL
    for (int step = 0; step < kTile / 16; ++step) {
      const Sums &x = weights.eights[2 * step], &y = weights.eights[2 * step + 1];
      add_step({{pair_of(x.v[0], x.v[1]), pair_of(x.v[2], x.v[3]), pair_of(y.v[0], y.v[1]), pair_of(y.v[2], y.v[3])}},
               others, step);
    }
  }

  // Adds the transpose of 32 rows of weights in shared memory, of which this has 16 columns, times the other rows.
  __device__ __forceinline__ void add_transposed(const BFloat16* weights, int stride,
                                                 const SharedRows<kColumns>& others) {
    const int lane = lane_number(), row = lane / 16 * kGroup + lane % kGroup, column = lane / kGroup % 2 * kGroup;
    DRAGOMAN_UNROLL
    for (int step = 0; step < kTile / 16; ++step) {
      FragmentA a;
      read_transposed(weights + (step * 16 + row) * stride + column, a.pairs);
      add_step(a, others, step);
    }
  }

  // Writes own rows first + g and first + g + 8 that exist, times a factor each.
  __device__ __forceinline__ void write(const HeadRows<BFloat16>& rows, int first, float low_factor,
                                        float high_factor) const {
    DRAGOMAN_UNROLL
    for (int half = 0; half < 2; ++half) {
      const int row = first + lane_row() + half * kGroup;
      const float factor = half == 0 ? low_factor : high_factor;
      if (row < rows.rows) {
        BFloat16* to = rows.first + row * rows.stride + 2 * lane_pair();
        DRAGOMAN_UNROLL
        for (int eight = 0; eight < kEights; ++eight) {
          const float* v = eights[eight].v + 2 * half;
          if (eight * kGroup < rows.columns) {
            *reinterpret_cast<uint32_t*>(to + eight * kGroup) = pair_of(v[0] * factor, v[1] * factor);
          }
        }
      }
    }
  }

 private:
  // Adds a product with 16 of the other rows.
  __device__ __forceinline__ void add_step(const FragmentA& a, const SharedRows<kColumns>& others, int step) {
    constexpr int kStride = SharedRows<kColumns>::kStride;
    const int lane = lane_number();
    const BFloat16* row = others.data + (step * 16 + lane % 16) * kStride + lane / 16 * kGroup;
    DRAGOMAN_UNROLL
    for (int eight = 0; eight < kEights; eight += 2) {
      uint32_t pairs[4];
      read_transposed(row + eight * kGroup, pairs);
      add_product(a, {{pairs[0], pairs[1]}}, eights[eight]);
      add_product(a, {{pairs[2], pairs[3]}}, eights[eight + 1]);
    }
  }
};

}  // namespace dragoman::kernels::cuda
