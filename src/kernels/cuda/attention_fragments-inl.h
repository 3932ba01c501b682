#pragma once

// What the kernels of attention by tensor cores share: bfloat16 rows, heads of up to 128 columns, a multiple of 8. For
// *.cu only.

#include "kernels/cuda/attention_tiles-inl.h"
#include "kernels/cuda/tensor_cores-inl.h"

namespace dragoman::kernels::cuda {

// A block has 32 rows of one sentence and head, its own rows, and goes over the other side's rows, 32 at a time. A warp
// has 16 of the own rows. Lane 4 * g + t has own rows g and g + 8 and, of each eight others, rows 2 * t and 2 * t + 1.
constexpr int kFragmentRows = 16;
constexpr int kFragmentWarps = kTile / kFragmentRows;
constexpr unsigned kFragmentThreads = kFragmentWarps * kWarp;
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

// 32 rows of the other side in shared memory. Rows are 16 bytes further apart than they are long. kColumns is at least
// the number of columns of a head; the rest is zero.
template <int kColumns>
struct SharedRows {
  static constexpr int kStride = kColumns + kGroup;
  static constexpr int kElements = kTile * kStride;
  BFloat16* data;

  // Reads rows [first, first + 32), zeros past the end.
  __device__ __forceinline__ void read(const HeadRows<BFloat16>& from, int first) const {
    constexpr int kGroups = kColumns / kGroup;
    DRAGOMAN_UNROLL
    for (int i = static_cast<int>(threadIdx.x); i < kTile * kGroups; i += static_cast<int>(kFragmentThreads)) {
      const int row = i / kGroups, column = i % kGroups * kGroup;
      uint4 words = {0, 0, 0, 0};
      if (first + row < from.rows && column < from.columns) {
        words = *reinterpret_cast<const uint4*>(from.first + (first + row) * from.stride + column);
      }
      *reinterpret_cast<uint4*>(data + row * kStride + column) = words;
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
    constexpr int kStride = SharedRows<kColumns>::kStride;
    DRAGOMAN_UNROLL
    for (int step = 0; step < kTile / 16; ++step) {
      const Sums &x = weights.eights[2 * step], &y = weights.eights[2 * step + 1];
      const FragmentA a{
          {pair_of(x.v[0], x.v[1]), pair_of(x.v[2], x.v[3]), pair_of(y.v[0], y.v[1]), pair_of(y.v[2], y.v[3])}};
      const BFloat16* first = others.data + (step * 16 + 2 * lane_pair()) * kStride + lane_row();
      DRAGOMAN_UNROLL
      for (int eight = 0; eight < kEights; ++eight) {
        const BFloat16* from = first + eight * kGroup;
        add_product(a, {{pair_of(from[0], from[kStride]), pair_of(from[8 * kStride], from[9 * kStride])}},
                    eights[eight]);
      }
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
};

// Shared memory of a warp for blocks of the dropout mask: 64 blocks of four words.
constexpr int kMaskWords = 256;

// Dropout factors of 16 own queries, from query `own` on, and 32 keys.
__device__ __forceinline__ void factors_of_queries(const Attention& a, const Place& place, int own, int first_key,
                                                   uint32_t* words, TileSums& factors) {
  const int lane = lane_number();
  __syncwarp();
  for (int block = lane; block < kMaskWords / 4; block += kWarp) {
    const PhiloxWords made = place.words(a, own + block / 4, first_key / kGroup + block % 4);
    for (int i = 0; i < 4; ++i) {
      words[block * 4 + i] = made.word[i];
    }
  }
  __syncwarp();
  DRAGOMAN_UNROLL
  for (int eight = 0; eight < kOtherEights; ++eight) {
    DRAGOMAN_UNROLL
    for (int half = 0; half < 2; ++half) {
      const uint32_t word = words[((lane_row() + half * kGroup) * 4 + eight) * 4 + lane_pair()];
      factors.eights[eight].v[2 * half] = (word & 0xFFFFU) >= a.mask.threshold ? a.mask.scale : 0.0F;
      factors.eights[eight].v[2 * half + 1] = (word >> 16U) >= a.mask.threshold ? a.mask.scale : 0.0F;
    }
  }
}

// Dropout factors of 16 own keys, from key `own` on, and 32 queries.
__device__ __forceinline__ void factors_of_keys(const Attention& a, const Place& place, int own, int first_query,
                                                uint32_t* words, TileSums& factors) {
  const int lane = lane_number();
  __syncwarp();
  for (int group = 0; group < 2; ++group) {
    const PhiloxWords made = place.words(a, first_query + lane, own / kGroup + group);
    for (int i = 0; i < 4; ++i) {
      words[(lane * 2 + group) * 4 + i] = made.word[i];
    }
  }
  __syncwarp();
  DRAGOMAN_UNROLL
  for (int eight = 0; eight < kOtherEights; ++eight) {
    DRAGOMAN_UNROLL
    for (int i = 0; i < 4; ++i) {
      const int query = eight * kGroup + 2 * lane_pair() + i % 2;
      const uint32_t word = words[(query * 2 + i / 2) * 4 + lane_row() / 2] >> (lane_row() % 2 * 16);
      factors.eights[eight].v[i] = (word & 0xFFFFU) >= a.mask.threshold ? a.mask.scale : 0.0F;
    }
  }
}

__device__ __forceinline__ float over_quad(float value) {
  value += __shfl_xor_sync(kAllLanes, value, 1);
  return value + __shfl_xor_sync(kAllLanes, value, 2);
}
__device__ __forceinline__ float largest_of_quad(float value) {
  value = fmaxf(value, __shfl_xor_sync(kAllLanes, value, 1));
  return fmaxf(value, __shfl_xor_sync(kAllLanes, value, 2));
}

inline bool fits_fragments(const AnyMatrix& matrix) {
  return matrix.is_bfloat16 && matrix.stride % kGroup == 0 && reinterpret_cast<uintptr_t>(matrix.data) % 16 == 0;
}
/// Returns: whether tensor cores can have these heads: bfloat16, a multiple of 8 columns, rows at multiples of 16
/// bytes.
inline bool fits_fragments(const Attention& a) {
  return a.d_head % kGroup == 0 && a.d_value == a.d_head && fits_fragments(a.query) && fits_fragments(a.key) &&
         fits_fragments(a.value);
}

}  // namespace dragoman::kernels::cuda
