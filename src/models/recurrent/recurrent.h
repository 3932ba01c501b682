#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/model.h"
#include "models/recurrent/recurrent_config.h"
#include "models/state_slots.h"
#include "models/tied_tables.h"
#include "nn/recurrent_layer.h"
#include "nn/token_embedding.h"

namespace dragoman::models {

/// What the encoder makes of B sentences.
struct EncodedSource {
  Variable states;   ///< [Ns, C], both directions side by side
  Variable summary;  ///< [B, C]: the last state of each direction
};

/// What the decoder goes on from, for each of B sentences.
struct RecurrentDecoderState {
  std::vector<ops::RecurrentState> layers;
  Variable fed;  ///< [B, D], the attentional vector of the row before; input feeding alone, undefined is zero
};

/// What is left behind a call of the decoder, without gradients.
struct RecurrentDecoderEnd {
  std::vector<ops::LastState> layers;
  Tensor fed;        ///< [B, D], input feeding alone
  Tensor attention;  ///< [N, longest source]; undefined without attention
};

/// A recurrent encoder-decoder with LSTM or GRU cells: a bidirectional encoder, and a decoder that attends to its
/// states (Bahdanau et al. 2015; Luong et al. 2015) or does not (Sutskever et al. 2014). docs/recurrent.md has the
/// formulas. If what was attended to goes into a cell, it goes into that of the first decoder layer, and the layers
/// above run over whole sentences (Wu et al. 2016, section 3). Parameter paths: *embedding.weight and output.weight as
/// in a Transformer; encoder.layers.I.{forward,backward}.*, decoder.layers.I.*,
/// decoder.layers.I.initial_{hidden,cell}.*, decoder.attention.*, decoder.fed.weight, readout.*.
class Recurrent : public Model {
 public:
  explicit Recurrent(const RecurrentConfig& config);

  EncodedSource encode(const TokenRows& source, const nn::ForwardContext& context) const;
  /// Returns: the states before the first word.
  RecurrentDecoderState first_state(const Variable& summary, const nn::ForwardContext& context) const;
  /// Returns: a memory of no sentences.
  ops::SourceMemory empty_memory() const;
  /// Returns: the keys and values of the encoder's states [Ns, C]; nothing without attention.
  ops::SourceMemory memory(const Variable& states, const Tensor& offsets) const;
  /// @param target  rows of the decoder's input;  @param end  null, or overwritten
  /// @return hidden [Nt, D]
  Variable decode(const TokenRows& target, const ops::SourceMemory& memory, const RecurrentDecoderState& state,
                  const nn::ForwardContext& context, RecurrentDecoderEnd* end = nullptr) const;

  Variable forward(const ModelInput& input, const nn::ForwardContext& context) const override;
  OutputLayer output() const override { return {tables_.output->weight(), {}}; }
  std::unique_ptr<Generation> begin_generation() const override;
  double forward_flops(int64_t source_length, int64_t target_length) const override;
  std::vector<std::string> cross_attention_paths() const override;
  const ModelConfig& config() const override { return config_; }
  const RecurrentConfig& recurrent_config() const { return *config_.get_if<RecurrentConfig>(); }

 private:
  struct EncoderLayer {
    nn::RecurrentLayer forward, backward;
  };
  struct DecoderLayer {
    nn::RecurrentLayer layer;
    nn::Linear initial_hidden;
    std::optional<nn::Linear> initial_cell;  // LSTM alone
  };
  // What the first decoder layer gives.
  struct FirstLayer {
    Variable output;
    ops::LastState last;      // if the end of the decoder is wanted
    Tensor attention;         // if the layer attends
    ops::LayerValues values;  // if the observer wants kept values
  };

  void declare_layers(const RecurrentConfig& config);
  void declare_attention(const RecurrentConfig& config);
  void declare_readout(const RecurrentConfig& config);
  ops::AttentiveWeights attentive_weights() const;
  FirstLayer first_layer(const Variable& words, const Tensor& offsets, const ops::SourceMemory& memory,
                         const RecurrentDecoderState& state, const nn::ForwardContext& context, bool with_last) const;
  Variable readout(const Variable& top, const FirstLayer& first, const Variable& words, const Variable& found,
                   const nn::ForwardContext& context) const;
  void show_attention_values(const ops::LayerValues& values, const ops::SourceMemory& memory, const Variable& attended,
                             const nn::ForwardContext& context) const;
  Variable between_layers(const Variable& x, size_t layer, const char* stack, const nn::ForwardContext& context) const;

  ModelConfig config_;
  TiedTables tables_;
  nn::TokenEmbedding source_embedding_, target_embedding_;
  std::vector<EncoderLayer> encoder_layers_;
  std::vector<DecoderLayer> decoder_layers_;
  std::optional<nn::Linear> key_;                                                // of attention
  nn::ParameterHandle query_, score_, fed_;                                      // null unless used
  nn::ParameterHandle combine_, combine_bias_;                                   // of input feeding
  std::optional<nn::Linear> from_top_, from_first_, from_context_, from_words_;  // parts of the readout
};

/// Generation with a recurrent model. A slot keeps the encoder's states and, for each hypothesis, one row: the states
/// of all layers and what is fed. A hypothesis that follows a parent copies that row.
class RecurrentGeneration : public Generation {
 public:
  /// @param model  must outlive this
  explicit RecurrentGeneration(const Recurrent& model);

  std::vector<int32_t> add(std::span<const std::span<const int32_t>> sources) override;
  Variable step(std::span<const StepRow> rows) override;
  Variable prefill(int32_t slot, std::span<const int32_t> ids) override;
  void remove(int32_t slot) override { slots_.remove(slot); }
  size_t slots_in_use() const override { return slots_.in_use(); }
  void want_attention(std::span<const int> layers) override { wants_attention_ = !layers.empty(); }
  Tensor attention(int /*layer*/) const override { return wants_attention_ ? attention_ : Tensor(); }

 private:
  RecurrentDecoderState unpacked(const Tensor& states) const;
  Tensor packed(const RecurrentDecoderState& state, int64_t rows) const;
  // Runs the decoder; returns hidden, and the states behind it.
  Variable decode(const TokenRows& target, const ops::SourceMemory& memory, Tensor& states);

  const Recurrent& model_;
  StateSlots slots_;
  bool wants_attention_ = false;
  Tensor attention_;  // of the last step
};

}  // namespace dragoman::models
