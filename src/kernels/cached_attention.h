#pragma once

#include <cstdint>
#include <span>

#include "kernels/types.h"

namespace dragoman::kernels {

/// Locates the keys and values of one query row. The key of position t begins at element
/// (row_of_position ? row_of_position[t] : t) * stride of keys, and its value likewise. The index table lets beams
/// share and reorder a cache without copying it. In int8 the numbers of a key or value are followed by a float32 for
/// each of its heads, the scale of the head. Attention to a window of the last keys is a later part of the index table.
/// Keys and values are addresses in the memory of the device; the index table is in host memory.
struct StepKeys {
  const void* keys = nullptr;
  const void* values = nullptr;
  const int32_t* row_of_position = nullptr;       ///< nullptr = consecutive rows
  int64_t stride = 0;                             ///< elements from one cache row to the next
  int64_t length = 0;                             ///< positions to attend to; 0 gives a row of zeros
  tensor::DType dtype = tensor::DType::kFloat32;  ///< of keys and values: float32, bfloat16 or int8
  int n_kv_heads = 0;                             ///< heads of a key and of a value; 0 = as many as the query has
  const float* bias = nullptr;  ///< head h adds bias[h * bias_stride + t] to the scaled product with key t; null = none
  int64_t bias_stride = 0;
};

/// Returns: the number of elements of `dtype` in a cache row of `width` numbers, the scales of int8 included.
constexpr int64_t cached_row_elements(int64_t width, int n_heads, tensor::DType dtype) {
  return dtype == tensor::DType::kInt8 ? width + n_heads * static_cast<int64_t>(sizeof(float)) : width;
}

/// Keys and values of new tokens, and the cache rows that keep them: a key, then a value, each as StepKeys reads it.
struct CachedRows {
  const Tensor& keys;    ///< [R, H*Dh] float32, rows may be strided
  const Tensor& values;  ///< [R, H*Dh] float32, rows may be strided
  const Tensor& rows;    ///< [R] int32, the cache row of each; < 0 for a token that is not kept
  int n_heads;           ///< H, heads of a key and of a value
  Tensor& cache;         ///< [rows, 2 * cached_row_elements] float32, bfloat16 or int8
};

/// What the rows of a decoding step attend to, as tables of int32 in the memory of a device. The keys and values of
/// query row r are in rows numbers[begins[r]] .. numbers[begins[r] + lengths[r] - 1] of a cache, each as
/// store_cached_rows writes it. A row of length 0 gives zeros.
struct CachedHistories {
  const Tensor& cache;    ///< [rows, 2 * H*Dh] float32 or bfloat16
  const Tensor& lengths;  ///< [R] int32
  const Tensor& begins;   ///< [R] int32
  const Tensor& numbers;  ///< [any] int32
  int n_kv_heads;         ///< heads of a key and of a value
  Tensor bias{};  ///< [H, any] float32: a row adds the last columns to its scaled products, one for each key, of which
                  ///< there are no more; undefined = none
};

/// Holds keys and values of one sentence in the layout that decoding steps read, which belongs to the backend. The
/// shapes below are those of the CPU: 16 positions of one component of a key are contiguous, and the values of a head
/// are contiguous. A GPU keeps rows [S, H*Dh] and [S, H*Dv].
struct SharedKeys {
  Tensor keys;          ///< [H, ceil(S / 16), Dh, 16] float32, bfloat16 or int8, zeros past S
  Tensor values;        ///< [H, S, Dv] of the same kind
  int64_t length = 0;   ///< S
  Tensor key_scales;    ///< [H, ceil(S / 16) * 16] float32, int8 only: the scale of each key
  Tensor value_scales;  ///< the scale of each value, likewise
};

/// The number of next query rows that attend to `keys`.
struct SharedRows {
  const SharedKeys* keys;
  int64_t rows;
};

}  // namespace dragoman::kernels
