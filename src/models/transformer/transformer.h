#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "models/decoder/decoder_memory.h"
#include "models/model.h"
#include "models/tied_tables.h"
#include "models/transformer/transformer_config.h"
#include "nn/decoder_layer.h"
#include "nn/encoder_layer.h"
#include "nn/token_embedding.h"

namespace dragoman::models {

/// The encoder-decoder Transformer of "Attention Is All You Need" (Vaswani et al. 2017), figure 1.
/// Parameter paths: source_embedding.weight, target_embedding.weight, output.weight (or embedding.weight when tied),
/// output.bias where the configuration asks for one, encoder.layers.I.*, decoder.layers.I.*, and in pre-norm
/// encoder.norm.*, decoder.norm.*; by option also {encoder,decoder}.embedding.norm.* and
/// {encoder,decoder}.relative_positions.weight. Departs from the paper: pre-norm adds a final layer norm to both
/// stacks; there may be an output bias; the decoder may have another sub-layer in place of self-attention
/// (nn::DecoderSublayer). `forward` functions are const and keep no state: several threads may use one
/// model for inference.
class Transformer : public Model {
 public:
  explicit Transformer(const TransformerConfig& config);

  /// @return memory [Ns, D]
  Variable encode(const TokenRows& source, const nn::ForwardContext& context) const;
  /// @param target  rows of the decoder's input (begin of sentence, then the words so far)
  /// @param sources  shared, since a recorded decoder needs it again in the backward (nn::Recompute)
  /// @return hidden [Nt, D], what the output projection is applied to
  Variable decode(const TokenRows& target, const std::shared_ptr<DecoderSources>& sources,
                  const nn::ForwardContext& context) const;
  Variable forward(const ModelInput& input, const nn::ForwardContext& context) const override;
  OutputLayer output() const override;
  std::unique_ptr<Generation> begin_generation() const override;
  double forward_flops(int64_t source_length, int64_t target_length) const override;
  std::vector<std::string> cross_attention_paths() const override;
  bool has_batch_norms() const override { return transformer_config().layer.norm == kernels::NormKind::kBatch; }
  bool can_be_recorded() const override {
    return transformer_config().decoder_sublayer == nn::DecoderSublayer::kSelfAttention && !has_batch_norms();
  }
  const ModelConfig& config() const override { return config_; }
  const TransformerConfig& transformer_config() const { return *config_.get_if<TransformerConfig>(); }

  std::span<const nn::DecoderLayer> decoder_layers() const { return decoder_layers_; }

 private:
  Variable normalised(const Variable& x, const nn::Norm& norm, const char* stack,
                      const nn::ForwardContext& context) const;

  ModelConfig config_;
  TiedTables tables_;
  nn::ParameterHandle output_bias_;  // null when there is none
  nn::TokenEmbedding source_embedding_;
  nn::TokenEmbedding target_embedding_;
  std::unique_ptr<nn::Norm> source_norm_;  // of embeddings; null if there is none
  std::unique_ptr<nn::Norm> target_norm_;
  std::vector<nn::EncoderLayer> encoder_layers_;
  std::vector<nn::DecoderLayer> decoder_layers_;
  std::unique_ptr<nn::Norm> encoder_norm_;  // pre-norm only
  std::unique_ptr<nn::Norm> decoder_norm_;
};

/// Floating-point operations of the matrix products of one pair of sentences, output layer included. The encoder and
/// the projections of its memory alone: a target_length of 0.
double forward_flops(const TransformerConfig& config, int64_t source_length, int64_t target_length);

/// Generation with the Transformer: encodes sentences into slots, then decodes step by step over cached keys and
/// values, or from kept running means (DecoderSublayer). The layers that it runs are those that training runs, with
/// what was kept in place of whole sequences. Nothing is recorded on a tape.
class TransformerGeneration : public Generation {
 public:
  /// @param model  must outlive this
  explicit TransformerGeneration(const Transformer& model);

  std::vector<int32_t> add(std::span<const std::span<const int32_t>> sources) override;
  Variable step(std::span<const StepRow> rows) override;
  Variable prefill(int32_t slot, std::span<const int32_t> ids) override;
  void remove(int32_t slot) override { memory_->remove(slot); }
  size_t slots_in_use() const override { return memory_->slots_in_use(); }
  void want_attention(std::span<const int> layers) override { memory_->want_attention(layers); }
  Tensor attention(int layer) const override { return memory_->attention(layer); }

  const DecoderMemory& memory() const { return *memory_; }

 private:
  std::vector<int32_t> encode(std::span<const std::span<const int32_t>> sources);
  Variable decode(std::span<const int32_t> ids, PassKind kind);

  const Transformer& model_;
  std::shared_ptr<DecoderMemory> memory_;
};

}  // namespace dragoman::models
