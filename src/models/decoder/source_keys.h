#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "kernels/cached_attention.h"
#include "models/decoder/key_value_cache.h"
#include "models/decoder/step_tables.h"
#include "models/generation.h"
#include "nn/multi_head_attention.h"

namespace dragoman::models {

class SourceKeys;

/// Cross-attention of one layer over keys and values that were projected when the sentence came.
class CachedCrossKeyValues : public nn::KeyValueSource {
 public:
  CachedCrossKeyValues(SourceKeys& sources, size_t layer) : sources_(sources), layer_(layer) {}
  autograd::Variable attend(const autograd::Variable& input, const nn::MultiHeadAttention& attention,
                            const nn::ForwardContext& context) override;

 private:
  SourceKeys& sources_;
  size_t layer_;
};

/// The keys and values of the source sentences in work, for the cross-attention of every layer of a decoder. They are
/// projected once for a sentence, and its hypotheses share them.
class SourceKeys {
 public:
  /// @param attentions  of each layer, which must outlive this; empty for a decoder without an encoder
  /// @param dtype  of the keys and values
  /// @param tables  of the passes, where the backend reads them; null for none
  SourceKeys(std::vector<const nn::MultiHeadAttention*> attentions, tensor::DType dtype,
             const StepTables* tables = nullptr);
  SourceKeys(const SourceKeys&) = delete;
  SourceKeys& operator=(const SourceKeys&) = delete;

  /// Projects the encoder's output of B sentences, one for each slot.
  /// @param memory [Ns, D];  @param offsets [B + 1]
  void add(const autograd::Variable& memory, std::span<const int32_t> offsets, std::span<const int32_t> slots);
  /// Forgets the sentence of a slot, if there is one.
  void remove(int32_t slot);
  /// The next row of the forward pass under way belongs to this slot. Rows of one slot stand together.
  void begin_row(int32_t slot);
  void begin_rows() { groups_.clear(); }
  /// Returns: the rows of the cache that hold the source of a slot, where the backend reads tables.
  std::span<const int32_t> cache_rows(int32_t slot) const { return kept_[static_cast<size_t>(slot)].table; }
  /// Returns: whether there are keys for a backend that reads tables.
  bool in_cache() const { return cache_ != nullptr; }
  /// Returns: a number that changes when the memory of the keys moves.
  int64_t capacity() const { return cache_ == nullptr ? 0 : cache_->capacity(); }
  nn::KeyValueSource& attention(size_t layer) { return layers_[layer]; }

  /// See DecoderMemory.
  void want_weights(std::span<const int> layers);
  bool wants_weights() const { return !weights_.empty(); }
  tensor::Tensor weights(int layer) const;

 private:
  friend class CachedCrossKeyValues;

  struct Group {
    int32_t slot;
    int64_t rows;
  };

  // Where the sentence of a slot is in the cache.
  struct Kept {
    CacheRows rows;
    std::vector<int32_t> table;
  };

  void add_to_cache(const autograd::Variable& memory, std::span<const int32_t> offsets, std::span<const int32_t> slots);
  std::span<const kernels::SharedRows> rows_of(size_t layer);
  int64_t length_of(int32_t slot) const;
  size_t layer_number(int layer) const;
  tensor::Tensor* weights_of(size_t layer);

  std::vector<const nn::MultiHeadAttention*> attentions_;
  tensor::DType dtype_;
  std::vector<std::vector<kernels::SharedKeys>> slots_;  // [slot][layer]
  const StepTables* tables_;
  std::unique_ptr<KeyValueCache> cache_;  // null unless the backend reads tables
  std::vector<Kept> kept_;                // [slot] in the cache
  std::vector<Group> groups_;             // of the forward pass under way
  std::vector<kernels::SharedRows> shared_rows_;
  std::map<size_t, tensor::Tensor> weights_;  // of each layer wanted, undefined before the first pass
  std::vector<CachedCrossKeyValues> layers_;
};

/// Returns: the queries times what makes up for a layer whose products have another scale than 1 / sqrt(Dh), which the
/// kernels of cached attention divide by.
tensor::Tensor scaled_query(const autograd::Variable& query, const nn::MultiHeadAttention& attention);

/// Returns: room for the heads of a query [R, H * Dh] on a device: in bfloat16 if products have rounded the input.
tensor::Tensor room_for_heads(const autograd::Variable& input, const autograd::Variable& query);

}  // namespace dragoman::models
