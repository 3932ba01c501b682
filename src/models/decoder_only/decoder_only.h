#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "models/decoder/decoder_state.h"
#include "models/decoder_only/decoder_only_config.h"
#include "models/model.h"
#include "nn/encoder_layer.h"
#include "nn/token_embedding.h"

namespace dragoman::models {

/// A decoder without an encoder, which predicts the next token of a text: GPT-2 (Radford et al. 2019), Llama (Touvron
/// et al. 2023) and what lies between, as the configuration says. `forward` reads the target side of its input alone.
/// Parameter paths: embedding.weight, embedding.positions (learned positions), layers.I.*, norm.* (pre-norm), and
/// output.weight unless it is tied.
/// Threads: `forward` functions are const and keep no state, so several threads may use one model for inference.
class DecoderOnly : public Model {
 public:
  explicit DecoderOnly(const DecoderOnlyConfig& config);

  Variable forward(const ModelInput& input, const nn::ForwardContext& context) const override;
  OutputLayer output() const override;
  std::unique_ptr<Generation> begin_generation() const override;
  double forward_flops(int64_t source_length, int64_t target_length) const override;
  bool can_be_recorded() const override { return true; }
  const ModelConfig& config() const override { return config_; }
  const DecoderOnlyConfig& decoder_config() const { return *config_.get_if<DecoderOnlyConfig>(); }

  /// What `decode` is called for.
  enum class Wanted {
    kHidden,
    kCache,  ///< the keys and values of all layers; the last one computes nothing else
  };
  /// @param rows  of the tokens so far;  @param state  a cache of what came before, null in training and scoring
  /// @return hidden [N, D]; undefined for kCache
  Variable decode(const TokenRows& rows, const std::shared_ptr<DecoderState>& state, const nn::ForwardContext& context,
                  Wanted wanted = Wanted::kHidden) const;

 private:
  ModelConfig config_;
  nn::ParameterHandle table_;
  nn::TokenEmbedding embedding_;
  std::vector<nn::EncoderLayer> layers_;
  std::optional<nn::Norm> norm_;  // pre-norm only
  nn::ParameterHandle output_weight_;
};

/// Generation with a decoder alone. `add` takes prompts: all tokens of a prompt but its last are read in one pass, with
/// those of other prompts, and the last is the one that the first step feeds. Prompts that begin alike are read once
/// where they do, also with prompts of slots in use.
class DecoderOnlyGeneration : public Generation {
 public:
  /// @param model  must outlive this
  explicit DecoderOnlyGeneration(const DecoderOnly& model);

  /// Throws: Error(kUsage) for a prompt that fills the context: "prompt: 1,024 tokens, the model takes 1,024; ...".
  std::vector<int32_t> add(std::span<const std::span<const int32_t>> prompts) override;
  Variable step(std::span<const StepRow> rows) override;
  Variable prefill(int32_t slot, std::span<const int32_t> ids) override;
  void remove(int32_t slot) override { state_->remove(slot); }
  size_t slots_in_use() const override { return state_->slots_in_use(); }

  const DecoderState& state() const { return *state_; }

 private:
  void read(std::span<const DecoderState::Prompt> prompts);
  Variable decode(std::span<const int32_t> ids, PassKind kind,
                  DecoderOnly::Wanted wanted = DecoderOnly::Wanted::kHidden);

  const DecoderOnly& model_;
  std::shared_ptr<DecoderState> state_;
};

}  // namespace dragoman::models
