#pragma once

// What all kernels of attention over ragged rows share: which rows a block has, and which others it meets.
// For *.cu only.

#include "kernels/cuda/attention_kernels.h"
#include "kernels/cuda/device_math-inl.h"

namespace dragoman::kernels::cuda {

constexpr int kTile = kAttentionTile;

// The rows of one head in one sentence.
template <typename T>
struct HeadRows {
  T* first;
  int64_t stride;
  int rows, columns;
};

template <typename T>
__device__ __forceinline__ HeadRows<T> head_rows(const AnyMatrix& matrix, int64_t begin, int rows, int head,
                                                 int columns) {
  return {static_cast<T*>(matrix.data) + begin * matrix.stride + static_cast<int64_t>(head) * columns, matrix.stride,
          rows, columns};
}

// One sentence and head.
struct Place {
  int64_t first_query, first_key;
  int queries, keys, head, key_head;
  __device__ Place(const Attention& a, int sentence, int head_number)
      : first_query(a.query_offsets[sentence]),
        first_key(a.key_offsets[sentence]),
        queries(static_cast<int>(a.query_offsets[sentence + 1] - first_query)),
        keys(static_cast<int>(a.key_offsets[sentence + 1] - first_key)),
        head(head_number),
        key_head(head_number / a.group) {}
  // Index of a query row in [H, Nq].
  __device__ int64_t stat(const Attention& a, int query) const { return head * a.n_queries + first_query + query; }
  __device__ bool sees(const Attention& a, int query, int key) const {
    return key < keys && query < queries && (!a.causal || key <= query) && (a.window == 0 || key > query - a.window) &&
           (a.key_mask == nullptr || a.key_mask[first_key + key]);
  }
  // The score of a key that the query sees, from their product.
  __device__ float score(const Attention& a, int query, int key, float product) const {
    const float score = product * a.scale;
    return a.bias == nullptr ? score : score + a.bias[static_cast<int64_t>(2 * head + 1) * a.reach + query - key];
  }
  __device__ PhiloxWords words(const Attention& a, int query, int group) const {
    return mask_words(a.mask, static_cast<uint32_t>((first_query + query) * a.heads + head),
                      static_cast<uint32_t>(group));
  }
};

// A range of rows of the other side that begins with a tile.
struct OtherRows {
  int first, end;
};
// The keys that `rows` own queries see.
__device__ __forceinline__ OtherRows keys_of(const Attention& a, const Place& place, const SentenceTile& tile,
                                             int rows = kTile) {
  const int before = a.window == 0 || tile.first < a.window ? 0 : tile.first + 1 - a.window;
  return {before / kTile * kTile, a.causal && tile.first + rows < place.keys ? tile.first + rows : place.keys};
}
// The queries that see `rows` own keys.
__device__ __forceinline__ OtherRows queries_of(const Attention& a, const Place& place, const SentenceTile& tile,
                                                int rows = kTile) {
  const int last = tile.first + rows - 1 + a.window;
  return {a.causal ? tile.first : 0, a.window > 0 && last < place.queries ? last : place.queries};
}

// Sums of the diagonals of gradients of scores, for a tile of query rows and a head.
struct Diagonals {
  const float* grads;  // [32, 32] in shared memory
  float* sums;         // [P]
  int64_t part;        // P

  __device__ void clear() const {
    for (int i = static_cast<int>(threadIdx.x); i < part; i += static_cast<int>(blockDim.x)) {
      sums[i] = 0.0F;
    }
  }
  // Adds those of keys first .. first + 32. All threads of the block must come.
  __device__ void add(int first) const {
    __syncthreads();
    const int number = static_cast<int>(threadIdx.x);
    if (number < 2 * kTile - 1) {
      float sum = 0;
      for (int row = 0; row < kTile; ++row) {
        const int key = number + row - (kTile - 1);
        sum += key >= 0 && key < kTile ? grads[row * kTile + key] : 0.0F;
      }
      sums[first + number] += sum;
    }
    __syncthreads();
  }
};
__device__ __forceinline__ Diagonals diagonals_of(const Attention& a, const AttentionGrads& grads,
                                                  const float* memory) {
  return {memory, grads.bias_parts + (blockIdx.x * static_cast<int64_t>(a.heads) + blockIdx.y) * grads.part,
          grads.part};
}

inline dim3 grid_of(const Attention& a, const Tiles& tiles) {
  return {static_cast<unsigned>(tiles.count), static_cast<unsigned>(a.heads)};
}
inline dim3 key_grid_of(const Attention& a, const Tiles& tiles) {
  return {static_cast<unsigned>(tiles.count), static_cast<unsigned>(a.heads / a.group)};
}

}  // namespace dragoman::kernels::cuda
