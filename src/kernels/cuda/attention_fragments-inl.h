#pragma once

// What the kernels of attention by tensor cores share: bfloat16 rows, heads of up to 128 columns, a multiple of 8. For
// *.cu only.

#include "kernels/cuda/async_copies-inl.h"
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

// Calls op(eight, i, row, other) for the lane's parts of a tile: own row number, of the block's tile, and other row.
template <typename Op>
__device__ __forceinline__ void for_each_part(int own, int first, const Op& op) {
  DRAGOMAN_UNROLL
  for (int eight = 0; eight < kOtherEights; ++eight) {
    DRAGOMAN_UNROLL
    for (int i = 0; i < 4; ++i) {
      op(eight, i, own + lane_row() + i / 2 * kGroup, first + eight * kGroup + 2 * lane_pair() + i % 2);
    }
  }
}

__device__ __forceinline__ void multiply_parts(TileSums& tile, const TileSums& factors) {
  DRAGOMAN_UNROLL
  for (int eight = 0; eight < kOtherEights; ++eight) {
    DRAGOMAN_UNROLL
    for (int i = 0; i < 4; ++i) {
      tile.eights[eight].v[i] *= factors.eights[eight].v[i];
    }
  }
}

// What a backward needs of a query's softmax.
struct QueryFacts {
  float largest = 0, inverse_sum = 0;
  __device__ __forceinline__ QueryFacts(const Attention& a, const Place& place, int query) {
    if (query < place.queries) {
      largest = a.largest[place.stat(a, query)];
      inverse_sum = a.inverse_sum[place.stat(a, query)];
    }
  }
  __device__ __forceinline__ float weight(float score) const { return fast_exp(score - largest) * inverse_sum; }
};

// The rows of the other side that an own row meets.
struct Sight {
  int first = 0;
  unsigned count = 0;
  __device__ __forceinline__ bool has(int row) const { return static_cast<unsigned>(row - first) < count; }
};
__device__ __forceinline__ Sight sight_of_query(const Attention& a, const Place& place, int query) {
  if (query >= place.queries) {
    return {};
  }
  const int first = a.window == 0 || query < a.window ? 0 : query + 1 - a.window;
  const int end = a.causal && query < place.keys ? query + 1 : place.keys;
  return {first, static_cast<unsigned>(end - first)};
}
__device__ __forceinline__ Sight sight_of_key(const Attention& a, const Place& place, int key) {
  if (key >= place.keys || (a.key_mask != nullptr && !a.key_mask[place.first_key + key])) {
    return {};
  }
  const int first = a.causal ? key : 0;
  const int end = a.window > 0 && key + a.window < place.queries ? key + a.window : place.queries;
  return {first, static_cast<unsigned>(end > first ? end - first : 0)};
}

// Goes over the other rows, 32 at a time: read(first, buffer) begins to read a tile into one of two buffers, while
// use(first, buffer) takes the tile before it. All threads of the block must come.
template <typename Read, typename Use>
__device__ __forceinline__ void for_each_tile(const OtherRows& others, const Read& read, const Use& use) {
  __syncthreads();  // nobody uses the buffers any more
  if (others.first < others.end) {
    read(others.first, 0);
  }
  int buffer = 0;
  for (int first = others.first; first < others.end; first += kTile) {
    wait_for_copies();
    __syncthreads();
    if (first + kTile < others.end) {
      read(first + kTile, 1 - buffer);
    }
    use(first, buffer);
    buffer = 1 - buffer;
  }
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

inline bool fits_fragments(const AttentionGrads& grads) {
  return fits_fragments(grads.context) && fits_fragments(grads.grad_context) && fits_fragments(grads.query) &&
         fits_fragments(grads.key) && fits_fragments(grads.value);
}

}  // namespace dragoman::kernels::cuda
