#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "kernels/cached_attention.h"
#include "models/decoder/decoder_memory.h"
#include "models/decoder/key_value_cache.h"
#include "models/decoder/prompt_rows.h"
#include "models/decoder/recorded_steps.h"
#include "models/decoder/source_keys.h"
#include "models/decoder/step_tables.h"

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
  const nn::ParameterSet* parameters = nullptr;  ///< the weights of the decoder; null: they never change
};

/// What decoding with self-attention remembers between steps. Each hypothesis of a slot has a table that names the
/// cache row of every position. Texts that begin with the same prompt share its rows. When a beam is reordered only
/// tables of integers are copied; cache rows stay in place. A decoder without an encoder has no sources. Memory comes
/// from the arena current when it is first needed.
class DecoderState : public DecoderMemory {
 public:
  /// Requires: the attentions of `shape` outlive this.
  explicit DecoderState(DecoderStateShape shape);
  DecoderState(const DecoderState&) = delete;
  DecoderState& operator=(const DecoderState&) = delete;

  std::vector<int32_t> add(const autograd::Variable& memory, std::span<const int32_t> offsets) override;
  /// The same for `count` texts of a decoder without an encoder.
  std::vector<int32_t> add(size_t count);
  void remove(int32_t slot) override;
  size_t slots_in_use() const override { return slots_.size() - free_slots_.size(); }

  void begin_step(std::span<const StepRow> rows) override;
  void begin_prefill(int32_t slot, int64_t count) override;
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
  tensor::Tensor positions() const override;
  /// Where the backend reads tables, steps are recorded and run again.
  autograd::Variable run(std::span<const int32_t> ids, PassKind kind, const Pass& pass) override;
  /// Returns: the steps that were run again. Tests read it.
  int64_t replayed_steps() const { return recorded_.replayed(); }

  /// Keeps the keys and values of the rows under way in a layer whose output is not wanted.
  /// @param input  what the self-attention reads, [R, D]
  void keep(size_t layer, const autograd::Variable& input, const nn::MultiHeadAttention& attention);

  nn::PastSource past(size_t layer) override { return self_key_values_[layer]; }
  nn::KeyValueSource& cross_attention(size_t layer) override { return sources_.attention(layer); }
  void want_attention(std::span<const int> layers) override { sources_.want_weights(layers); }
  tensor::Tensor attention(int layer) const override;

  const KeyValueCache& cache() const { return cache_; }

 private:
  friend class CachedSelfKeyValues;

  using Table = std::vector<int32_t>;  // [t] cache row of position t
  struct Slot {
    bool in_use = false;
    std::vector<Table> tables;       // one a hypothesis, the first `live` count
    std::vector<Table> next_tables;  // being built; swapped, so that their memory is reused
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
  int32_t take_slot();
  void clear_rows();
  void add_row(const Row& row, int32_t cache_row);
  Slot& checked_slot(int32_t slot);
  void extend(const StepRow& row, size_t hypothesis);
  void release_tips(Slot& slot);
  const Table& table(const Row& row) const;
  void store(size_t layer, const tensor::Tensor& keys, const tensor::Tensor& values);
  void fill_tables(std::span<const int32_t> ids);
  uint64_t weights_version() const;
  RecordedSteps::Version memory_version() const;
  tensor::Tensor attend_over_tables(size_t layer, const autograd::Variable& input, const autograd::Variable& query,
                                    const nn::MultiHeadAttention& attention);
  std::span<const kernels::StepKeys> self_keys(size_t layer, const nn::RelativePositions* relative);
  const tensor::Tensor& step_bias(const nn::RelativePositions& relative);
  bool has_step_bias() const;

  DecoderStateShape shape_;
  KeyValueCache cache_;
  PromptRows prompts_;
  bool in_tables_ = false;  // the rows of the pass under way
  StepTables tables_;
  RecordedSteps recorded_;
  SourceKeys sources_;
  std::vector<Slot> slots_;
  std::vector<int32_t> free_slots_;
  std::vector<Row> rows_;            // of the step under way
  std::vector<int32_t> cache_rows_;  // of rows_: where each stores its keys and values
  tensor::Tensor stored_rows_;       // [R] the same; undefined until the first layer stores
  std::vector<kernels::StepKeys> step_keys_;
  tensor::Tensor step_bias_;   // [H, positions], of the latest query; undefined until it is needed
  uint64_t bias_weights_ = 0;  // weights_version() of step_bias_
  std::vector<CachedSelfKeyValues> self_key_values_;
};

}  // namespace dragoman::models
