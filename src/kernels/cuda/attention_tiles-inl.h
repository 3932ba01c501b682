#pragma once

// What the kernels of attention over ragged rows share. For *.cu only.

#include "kernels/cuda/attention_kernels.h"
#include "kernels/cuda/device_math-inl.h"

namespace dragoman::kernels::cuda {

// A block has 32 rows of one sentence and head, its own rows, and goes over the other side's rows, 32 at a time. A warp
// has eight of the own rows; a lane has one of the others. All sums of a row stay in its warp, in order. kParts times
// 32 is at least the number of columns of a head.
constexpr int kTile = kAttentionTile;
constexpr int kWarps = 4;
constexpr int kOwn = kTile / kWarps;
constexpr unsigned kThreads = kWarps * kWarp;
static_assert(kOwn == kGroup, "the own rows of a warp share a block of the dropout mask");

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

// Four elements more than columns: reads of four elements by neighbouring lanes then touch different banks.
__host__ __device__ constexpr int tile_stride(int columns) {
  return (columns + 3) / 4 * 4 + 4;
}

// Rows of float32 in shared memory, zero from the last column on to a multiple of four.
struct Tile {
  float* data;
  int stride;
  __device__ float* row(int number) const { return data + number * stride; }
  __device__ float4 four(int number, int column) const {
    return *reinterpret_cast<const float4*>(row(number) + column);
  }
  __device__ float* end() const { return row(kTile); }
};

// Reads rows [first, first + 32), zeros past the end.
template <typename T>
__device__ __forceinline__ void read_tile(const HeadRows<T>& from, int first, const Tile& tile) {
  for (int row = warp_number(); row < kTile; row += kWarps) {
    for (int column = lane_number(); column < tile.stride - 4; column += kWarp) {
      const bool inside = first + row < from.rows && column < from.columns;
      tile.row(row)[column] = inside ? widen(from.first[(first + row) * from.stride + column]) : 0.0F;
    }
  }
}

// products[i] = row own + i of `mine` times the lane's row of `others`.
__device__ __forceinline__ void multiply_rows(const Tile& mine, int own, const Tile& others, int columns,
                                              float (&products)[kOwn]) {
  DRAGOMAN_UNROLL
  for (int i = 0; i < kOwn; ++i) {
    products[i] = 0.0F;
  }
  for (int column = 0; column < columns; column += 4) {
    const float4 y = others.four(lane_number(), column);
    DRAGOMAN_UNROLL
    for (int i = 0; i < kOwn; ++i) {
      const float4 x = mine.four(own + i, column);
      products[i] += x.x * y.x + x.y * y.y + x.z * y.z + x.w * y.w;
    }
  }
}

// sums[i] += sum over the lanes of weights[i] * row of the lane, in the order of the lanes.
template <int kParts>
__device__ __forceinline__ void add_rows(const float (&weights)[kOwn], float* exchange, const Tile& rows, int columns,
                                         float (&sums)[kOwn][kParts]) {
  DRAGOMAN_UNROLL
  for (int i = 0; i < kOwn; ++i) {
    exchange[i * kTile + lane_number()] = weights[i];
  }
  __syncwarp();
  for (int other = 0; other < kTile; other += 4) {
    float values[4][kParts];
    DRAGOMAN_UNROLL
    for (int part = 0; part < kParts; ++part) {
      const int column = lane_number() + part * kWarp;
      DRAGOMAN_UNROLL
      for (int j = 0; j < 4; ++j) {
        values[j][part] = column < columns ? rows.row(other + j)[column] : 0.0F;
      }
    }
    DRAGOMAN_UNROLL
    for (int i = 0; i < kOwn; ++i) {
      const float4 factor = *reinterpret_cast<const float4*>(exchange + i * kTile + other);
      DRAGOMAN_UNROLL
      for (int part = 0; part < kParts; ++part) {
        sums[i][part] += factor.x * values[0][part] + factor.y * values[1][part] + factor.z * values[2][part] +
                         factor.w * values[3][part];
      }
    }
  }
  __syncwarp();  // before the next call writes
}

template <typename T, int kParts>
__device__ __forceinline__ void write_row(const AnyMatrix& matrix, int64_t row, int head, int columns,
                                          const float (&sums)[kParts], float factor) {
  T* to = static_cast<T*>(matrix.data) + row * matrix.stride + static_cast<int64_t>(head) * columns;
  DRAGOMAN_UNROLL
  for (int part = 0; part < kParts; ++part) {
    const int column = lane_number() + part * kWarp;
    if (column < columns) {
      to[column] = narrow<T>(sums[part] * factor);
    }
  }
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

__device__ __forceinline__ void keep_all(float (&factors)[kOwn]) {
  DRAGOMAN_UNROLL
  for (int i = 0; i < kOwn; ++i) {
    factors[i] = 1.0F;
  }
}

// Dropout factors of queries own .. own + 8 and the lane's key, first_key + lane. Each lane makes one of the 8 x 4
// blocks of the mask that the warp needs.
__device__ __forceinline__ void factors_of_queries(const Attention& a, const Place& place, int own, int first_key,
                                                   float* exchange, float (&factors)[kOwn]) {
  if (a.mask.threshold == 0) {
    return keep_all(factors);
  }
  constexpr int kGroups = kTile / kGroup;
  const int lane = lane_number();
  const PhiloxWords words = place.words(a, own + lane / kGroups, first_key / kGroup + lane % kGroups);
  DRAGOMAN_UNROLL
  for (int i = 0; i < 4; ++i) {
    exchange[lane * 4 + i] = __uint_as_float(words.word[i]);
  }
  __syncwarp();
  DRAGOMAN_UNROLL
  for (int i = 0; i < kOwn; ++i) {
    const int block = i * kGroups + lane / kGroup, half = lane % kGroup;
    const uint32_t word = __float_as_uint(exchange[block * 4 + half / 2]);
    factors[i] = ((word >> (half % 2 * 16)) & 0xFFFFU) >= a.mask.threshold ? a.mask.scale : 0.0F;
  }
  __syncwarp();
}

// Dropout factors of one query and keys own .. own + 8, which one block of the mask has.
__device__ __forceinline__ void factors_of_keys(const Attention& a, const Place& place, int query, int own,
                                                float (&factors)[kOwn]) {
  if (a.mask.threshold == 0) {
    return keep_all(factors);
  }
  const PhiloxWords words = place.words(a, query, own / kGroup);
  DRAGOMAN_UNROLL
  for (int i = 0; i < kOwn; ++i) {
    factors[i] = mask_factor(a.mask, words, i);
  }
}

// A range of rows of the other side that begins with a tile.
struct OtherRows {
  int first, end;
};
// The keys that own queries see.
__device__ __forceinline__ OtherRows keys_of(const Attention& a, const Place& place, const SentenceTile& tile) {
  const int before = a.window == 0 || tile.first < a.window ? 0 : tile.first + 1 - a.window;
  return {before / kTile * kTile, a.causal && tile.first + kTile < place.keys ? tile.first + kTile : place.keys};
}
// The queries that see own keys.
__device__ __forceinline__ OtherRows queries_of(const Attention& a, const Place& place, const SentenceTile& tile) {
  const int last = tile.first + kTile - 1 + a.window;
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

// Bytes of `of_heads` tiles of queries or keys, `of_values` of values, and the memory of each warp.
inline size_t shared_bytes(const Attention& a, int of_heads, int of_values) {
  const int columns = of_heads * tile_stride(a.d_head) + of_values * tile_stride(a.d_value);
  return static_cast<size_t>(kTile * (columns + kTile)) * sizeof(float);
}

struct Tiles {
  const SentenceTile* data;
  int64_t count;
};

inline dim3 grid_of(const Attention& a, const Tiles& tiles) {
  return {static_cast<unsigned>(tiles.count), static_cast<unsigned>(a.heads)};
}
inline dim3 key_grid_of(const Attention& a, const Tiles& tiles) {
  return {static_cast<unsigned>(tiles.count), static_cast<unsigned>(a.heads / a.group)};
}

// Calls run.operator()<T, kParts>() for the type and width of the heads.
template <typename T, typename Run>
void for_width(const Attention& a, const Run& run) {
  const int widest = a.d_head > a.d_value ? a.d_head : a.d_value;
  if (widest <= kWarp) {
    run.template operator()<T, 1>();
  } else if (widest <= 2 * kWarp) {
    run.template operator()<T, 2>();
  } else {
    run.template operator()<T, kWidestHead / kWarp>();
  }
}

template <typename Run>
void for_kind(const Attention& a, const Run& run) {
  if (a.query.is_bfloat16) {
    for_width<BFloat16>(a, run);
  } else {
    for_width<float>(a, run);
  }
}

}  // namespace dragoman::kernels::cuda
