#pragma once

// What the kernels of attention by float32 share: tiles of rows in shared memory. For *.cu only.

#include "kernels/cuda/attention_places-inl.h"

namespace dragoman::kernels::cuda {

// A block has 32 rows of one sentence and head, its own rows, and goes over the other side's rows, 32 at a time. A warp
// has eight of the own rows; a lane has one of the others. All sums of a row stay in its warp, in order. kParts times
// 32 is at least the number of columns of a head.
constexpr int kWarps = 4;
constexpr int kOwn = kTile / kWarps;
constexpr unsigned kThreads = kWarps * kWarp;
static_assert(kOwn == kGroup, "the own rows of a warp share a block of the dropout mask");

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

// Bytes of `of_heads` tiles of queries or keys, `of_values` of values, and the memory of each warp.
inline size_t shared_bytes(const Attention& a, int of_heads, int of_values) {
  const int columns = of_heads * tile_stride(a.d_head) + of_values * tile_stride(a.d_value);
  return static_cast<size_t>(kTile * (columns + kTile)) * sizeof(float);
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
