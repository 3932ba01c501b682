#pragma once

// What the kernels of attention by tensor cores know of weights: dropout, what a row sees, and the order of tiles.
// For *.cu only.

#include "kernels/cuda/attention_products-inl.h"

namespace dragoman::kernels::cuda {

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
