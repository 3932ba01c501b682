#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/cached_attention.h"
#include "nn/weight_packing.h"
#include "tensor/tensor.h"

namespace dragoman::models {

/// The cache rows of one sentence: whole runs of neighbours, so that reading a history walks through memory in order.
struct CacheRows {
  std::vector<int32_t> free;  // the last one is handed out next
  std::vector<int32_t> runs;  // the first row of each run
};

/// Self-attention keys and values of every decoder layer, in rows that stay where they were written. A row holds one
/// token of one hypothesis; hypotheses that share a history share its rows and name them by number, the same number
/// in every layer. A row lives as long as a hypothesis or a later row needs it; then its sentence uses it again, and
/// when the sentence is done another one, so the memory stops growing once it fits the work.
class KeyValueCache {
 public:
  /// @param width  of a key and of a value, Hkv * Dh;  @param n_heads  Hkv
  /// @param dtype  float32, bfloat16, or int8, where each head of a row is scaled by itself
  KeyValueCache(size_t n_layers, int64_t width, int n_heads = 1, tensor::DType dtype = tensor::DType::kFloat32)
      : layers_(n_layers), width_(width), n_heads_(n_heads), dtype_(dtype) {}

  /// The number of a free row of `sentence` that follows `previous` (-1: nothing), which it keeps alive. It is needed
  /// until `release` is called on it. May move the memory (when it grows), so pointers are asked for afterwards.
  int32_t take_row(CacheRows& sentence, int32_t previous);
  /// The row is needed once more until `release` is called on it. Requires: it is in use.
  void keep(int32_t row) { ++needs_[static_cast<size_t>(row)]; }
  /// The row is no longer needed by itself: it goes once no row follows it, and so do those before it.
  void release(CacheRows& sentence, int32_t row);
  /// All rows of the sentence are free again, whatever needs them. Asks for no memory.
  void release_all(CacheRows& sentence);

  /// Stores the keys and values of tokens, each in the row that `rows` names.
  /// @param keys, values  [R, D] float32;  @param rows  [R] int32; a token whose number is negative is not kept
  void write(size_t layer, const tensor::Tensor& rows, const tensor::Tensor& keys, const tensor::Tensor& values);
  /// Returns: [capacity, stride] the rows of a layer, which move when the cache grows.
  const tensor::Tensor& rows_of(size_t layer) const { return layers_[layer]; }
  /// Key (value) of row r begins at element r * stride() of this, which is an address in the memory of the device.
  const void* keys(size_t layer) const { return layers_[layer].device_data(); }
  const void* values(size_t layer) const {
    return static_cast<const char*>(keys(layer)) + static_cast<size_t>(half_row()) * tensor::dtype_bytes(dtype_);
  }
  tensor::DType dtype() const { return dtype_; }
  int64_t stride() const { return 2 * half_row(); }

  int n_heads() const { return n_heads_; }
  int64_t capacity() const { return capacity_; }
  /// Rows that some hypothesis needs.
  int64_t rows_in_use() const { return rows_in_use_; }

 private:
  void grow();
  // Elements of a key or value, with its units (kernels::StepKeys).
  int64_t half_row() const { return kernels::cached_row_elements(width_, n_heads_, dtype_); }

  std::vector<tensor::Tensor> layers_;  // [rows, stride()] each: key, then value
  int64_t width_;
  int n_heads_;
  tensor::DType dtype_;
  int64_t capacity_ = 0;
  int64_t rows_in_use_ = 0;
  std::vector<int32_t> free_runs_;  // the first row of each; the last one is handed out next
  std::vector<int32_t> previous_;   // of each row
  std::vector<int32_t> needs_;      // of each row: those that follow it, and one until it is released
};

/// Returns: the type of cached keys and values beside weights packed like this: rounded where the products are, for
/// less memory to hold, and to read in every step. @param packing  null for none
tensor::DType cache_dtype(const nn::WeightPacking* packing);

}  // namespace dragoman::models
