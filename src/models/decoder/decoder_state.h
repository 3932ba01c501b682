#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "kernels/cached_attention.h"
#include "models/decoder/decoder_key_values.h"
#include "models/decoder/key_value_cache.h"
#include "models/decoder/prompt_rows.h"
#include "models/generation.h"
#include "nn/multi_head_attention.h"

namespace dragoman::models {

class DecoderState;

/// Causal self-attention of one layer over the cache: projects the new rows, stores them, attends to the history.
class CachedSelfKeyValues : public nn::KeyValueSource {
 public:
  CachedSelfKeyValues(DecoderState& state, size_t layer) : state_(state), layer_(layer) {}
  autograd::Variable attend(const autograd::Variable& input, const nn::MultiHeadAttention& attention,
                            const nn::ForwardContext& context) override;

 private:
  DecoderState& state_;
  size_t layer_;
};

/// Cross-attention of one layer over keys and values that were projected when the sentence came.
class CachedCrossKeyValues : public nn::KeyValueSource {
 public:
  CachedCrossKeyValues(DecoderState& state, size_t layer) : state_(state), layer_(layer) {}
  autograd::Variable attend(const autograd::Variable& input, const nn::MultiHeadAttention& attention,
                            const nn::ForwardContext& context) override;

 private:
  DecoderState& state_;
  size_t layer_;
};

/// What a DecoderState must know of a decoder.
struct DecoderStateShape {
  size_t n_layers = 0;
  int n_heads = 1;
  int n_kv_heads = 1;
  int64_t d_head = 0;
  int64_t window = 0;                             ///< latest tokens that self-attention sees; 0 = all
  tensor::DType dtype = tensor::DType::kFloat32;  ///< of the cached keys and values
  /// Of each layer; empty for a decoder without an encoder.
  std::vector<const nn::MultiHeadAttention*> cross_attention = {};
};

/// All that decoding remembers between steps. A slot is one sentence: its encoder keys and values (shared by its
/// hypotheses; none without an encoder), and for each hypothesis a table that names the cache row of every position.
/// Texts that begin with the same prompt share its rows. When a beam is reordered only tables of integers are copied;
/// cache rows stay in place. Slots are refilled when a sentence is done. One thread at a time; the layers must outlive
/// it. Memory comes from the arena current when it is first needed.
class DecoderState : public DecoderKeyValues {
 public:
  /// Requires: the attentions of `shape` outlive this.
  explicit DecoderState(DecoderStateShape shape);
  DecoderState(const DecoderState&) = delete;
  DecoderState& operator=(const DecoderState&) = delete;

  /// Projects the encoder's output of B sentences for every layer and gives each a slot.
  /// @param memory [Ns, D];  @param offsets [B + 1] where sentence b is rows offsets[b] .. offsets[b + 1]
  /// @return B slot numbers; each starts with one hypothesis of no tokens
  std::vector<int32_t> add(const autograd::Variable& memory, std::span<const int32_t> offsets);
  /// The same for `count` texts of a decoder without an encoder.
  std::vector<int32_t> add(size_t count);
  /// Frees the slot and its cache rows. Throws Error for a slot that is not in use.
  void remove(int32_t slot);

  /// Makes the hypotheses follow `rows` (see Generation::step) and takes a cache row for each. Throws Error when a slot
  /// is not in use or a parent does not exist: "decoder state: slot 3 has 4 hypotheses, parent is 4".
  void begin_step(std::span<const StepRow> rows);
  /// Some of the tokens that the only hypothesis of a slot begins with.
  struct Beginning {
    int32_t slot;
    int64_t count;
  };
  /// Takes cache rows for the only hypothesis of each slot, none of which has had a step yet, a row of the next forward
  /// pass for each token. Throws Error when a slot is not in use or has begun.
  void begin_prefill(std::span<const Beginning> beginnings);
  /// All tokens that a text begins with.
  struct Prompt {
    int32_t slot;
    std::span<const int32_t> ids;
  };
  /// Gives slots that have had no step yet the cache rows of their prompts, for a decoder without an encoder. Rows of
  /// tokens with which another prompt begins too, of this call or of a slot in use, are shared and not computed again.
  /// @param most  new rows at most, unless the first prompt alone needs more
  /// @param ids  receives the tokens to feed, a row of the next forward pass for each
  /// Returns: the number of prompts taken, the first ones. Throws Error when a slot is not in use or has begun.
  size_t begin_prompts(std::span<const Prompt> prompts, size_t most, std::vector<int32_t>& ids);
  /// [R] int32: the position each row of this step stands at.
  tensor::Tensor positions() const;

  /// Keeps the keys and values of the rows under way in a layer whose output is not wanted.
  /// @param input  what the self-attention reads, [R, D]
  void keep(size_t layer, const autograd::Variable& input, const nn::MultiHeadAttention& attention);

  nn::KeyValueSource& self_attention(size_t layer) override { return self_key_values_[layer]; }
  nn::KeyValueSource& cross_attention(size_t layer) override { return cross_key_values_[layer]; }

  /// From now on the weights of the cross-attention of these layers alone are kept after each forward pass
  /// (see Generation).
  void want_attention(std::span<const int> layers);
  /// Returns: [R, longest source], the mean over the heads. Undefined if it is not wanted.
  tensor::Tensor attention(int layer) const;

  const KeyValueCache& cache() const { return cache_; }
  size_t slots_in_use() const { return slots_.size() - free_slots_.size(); }

 private:
  friend class CachedSelfKeyValues;
  friend class CachedCrossKeyValues;

  using Table = std::vector<int32_t>;  // [t] cache row of position t
  struct Slot {
    bool in_use = false;
    std::vector<kernels::SharedKeys> cross;  // [layer]
    std::vector<Table> tables;               // one a hypothesis, the first `live` count
    std::vector<Table> next_tables;          // being built; swapped, so that their memory is reused
    size_t live = 0;
    CacheRows cache_rows;
    std::shared_ptr<const CachedPrompt> prompt;  // whose rows the tables begin with; may be null
  };
  struct Row {
    int32_t slot;
    int32_t hypothesis;  // place within the slot
    int32_t position;
  };

  Slot& fresh_slot(int32_t slot);
  void fill(const Beginning& beginning);
  void keep_sources(const autograd::Variable& memory, std::span<const int32_t> offsets, std::span<const int32_t> added);
  int32_t take_slot();
  Slot& checked_slot(int32_t slot);
  void extend(const StepRow& row, size_t hypothesis);
  void release_tips(Slot& slot);
  const Table& table(const Row& row) const;
  void store(size_t layer, const tensor::Tensor& keys, const tensor::Tensor& values);
  std::span<const kernels::StepKeys> self_keys(size_t layer, const nn::RelativePositions* relative);
  const tensor::Tensor& step_bias(const nn::RelativePositions& relative);
  std::span<const kernels::SharedRows> cross_keys(size_t layer);
  size_t layer_number(int layer) const;
  tensor::Tensor* attention_of(size_t layer);

  DecoderStateShape shape_;
  KeyValueCache cache_;
  PromptRows prompts_;
  std::vector<Slot> slots_;
  std::vector<int32_t> free_slots_;
  std::vector<Row> rows_;            // of the step under way
  std::vector<int32_t> cache_rows_;  // of rows_: where each stores its keys and values
  std::vector<kernels::StepKeys> step_keys_;
  tensor::Tensor step_bias_;  // [H, positions], of the latest query; undefined until it is needed
  std::vector<kernels::SharedRows> shared_rows_;
  std::map<size_t, tensor::Tensor> attention_;  // of each layer wanted, undefined before the first pass
  std::vector<CachedSelfKeyValues> self_key_values_;
  std::vector<CachedCrossKeyValues> cross_key_values_;
};

}  // namespace dragoman::models
