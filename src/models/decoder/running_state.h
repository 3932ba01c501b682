#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/decoder/decoder_memory.h"
#include "models/decoder/source_keys.h"
#include "models/state_slots.h"
#include "nn/running_mean.h"

namespace dragoman::models {

class RunningState;

/// The running mean of one layer, which goes on from what the parents of the rows under way had.
class KeptRunningMean : public nn::RunningMean {
 public:
  KeptRunningMean(RunningState& state, size_t layer) : state_(state), layer_(layer) {}
  autograd::Variable scan(const autograd::Variable& x, const autograd::Variable& keep) override;
  tensor::Tensor positions() const override;

 private:
  RunningState& state_;
  size_t layer_;
};

/// What a RunningState must know of a decoder.
struct RunningStateShape {
  int64_t width = 0;                                                ///< D, of the running mean of a layer
  tensor::DType dtype = tensor::DType::kFloat32;                    ///< of the keys and values of the sources
  std::vector<const nn::MultiHeadAttention*> cross_attention = {};  ///< of each layer
};

/// What decoding with running means remembers between steps: D float32 of each layer for each hypothesis, whatever its
/// length. A hypothesis that follows a parent copies them.
class RunningState : public DecoderMemory {
 public:
  /// Requires: the attentions of `shape` outlive this.
  explicit RunningState(RunningStateShape shape);
  RunningState(const RunningState&) = delete;
  RunningState& operator=(const RunningState&) = delete;

  std::vector<int32_t> add(const autograd::Variable& memory, std::span<const int32_t> offsets) override;
  void remove(int32_t slot) override;
  size_t slots_in_use() const override { return slots_.in_use(); }

  void begin_step(std::span<const StepRow> rows) override;
  void begin_prefill(int32_t slot, int64_t count) override;
  tensor::Tensor positions() const override { return rows_.positions; }

  nn::PastSource past(size_t layer) override { return means_[layer]; }
  nn::KeyValueSource& cross_attention(size_t layer) override { return sources_.attention(layer); }
  void want_attention(std::span<const int> layers) override { sources_.want_weights(layers); }
  tensor::Tensor attention(int layer) const override { return sources_.weights(layer); }

 private:
  friend class KeptRunningMean;

  void begin(std::span<const int32_t> offsets, std::span<const int32_t> positions);

  int64_t width_;
  StateSlots slots_;
  SourceKeys sources_;
  std::vector<KeptRunningMean> means_;
  // Of the forward pass under way: B hypotheses with new rows, and L layers.
  nn::RaggedRows rows_;
  tensor::Tensor before_;  // [B, L * D]
  tensor::Tensor after_;   // [B, L * D], which the layers fill; the slots hold its rows
};

}  // namespace dragoman::models
