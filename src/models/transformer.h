#pragma once

#include <memory>
#include <vector>

#include "models/transformer_config.h"
#include "nn/decoder_layer.h"
#include "nn/encoder_layer.h"
#include "nn/parameters.h"
#include "nn/token_embedding.h"
#include "ops/best_logits.h"

namespace dragoman::models {

using autograd::Variable;
using tensor::Tensor;

/// One side of a packed batch as tensors. No padding: sentence b is rows offsets[b] .. offsets[b + 1].
struct TokenRows {
  Tensor ids;           ///< [N] int32
  nn::RaggedRows rows;  ///< offsets [B + 1], positions [N]
};

/// Builds TokenRows from ids and offsets; positions count from 0 in each sentence.
TokenRows make_token_rows(std::span<const int32_t> ids, std::span<const int32_t> offsets, int64_t first_row = 0);

/// TokenRows of a batch of one sentence.
TokenRows one_sentence(std::span<const int32_t> ids);

/// What the decoder attends to, one pair per layer: whole sequences in training, caches in decoding.
class DecoderKeyValues {
 public:
  virtual ~DecoderKeyValues() = default;
  virtual nn::KeyValueSource& self_attention(size_t layer) = 0;
  virtual nn::KeyValueSource& cross_attention(size_t layer) = 0;
};

/// The encoder-decoder Transformer of "Attention Is All You Need" (Vaswani et al. 2017), figure 1.
/// Parameter paths: source_embedding.weight, target_embedding.weight, output.weight (or embedding.weight when tied),
/// output.bias where the configuration asks for one, encoder.layers.I.*, decoder.layers.I.*, and in pre-norm
/// encoder.norm.*, decoder.norm.*. Departs from the paper: pre-norm adds a final layer norm to both stacks; there may
/// be an output bias. `forward` functions are const and keep no state: several threads may use one model for inference.
class Transformer {
 public:
  explicit Transformer(const TransformerConfig& config);
  Transformer(const Transformer&) = delete;
  Transformer& operator=(const Transformer&) = delete;

  /// @return memory [Ns, D]
  Variable encode(const TokenRows& source, const nn::ForwardContext& context) const;
  /// @param target  rows of the decoder's input (begin of sentence, then the words so far)
  /// @param memory  shared, since a recorded decoder needs it again in the backward (nn::Recompute)
  /// @return hidden [Nt, D], what the output projection is applied to
  Variable decode(const TokenRows& target, const std::shared_ptr<DecoderKeyValues>& memory,
                  const nn::ForwardContext& context) const;
  /// Teacher-forced: encode, then decode all target rows at once. @return hidden [Nt, D]
  Variable forward(const TokenRows& source, const TokenRows& target, const nn::ForwardContext& context) const;
  /// logits = hidden E^T + b, E [V, D], b [V] where there is one. @return [Nt, V]
  Variable logits(const Variable& hidden) const;
  /// The k largest of each row of logits and its log-sum-exp, without storing the logits. @param hidden  [Nt, D]
  void best_logits(const Variable& hidden, int k, kernels::BestLogits& best) const;

  /// [V, D], with its packed copy where there is one.
  ops::Weight output_weight() const { return output_weight_->weight(); }
  /// [V], or undefined when the configuration asks for none.
  Variable output_bias() const { return output_bias_ == nullptr ? Variable() : output_bias_->variable; }
  const nn::DecoderLayer& decoder_layer(size_t index) const { return decoder_layers_[index]; }
  size_t decoder_layer_count() const { return decoder_layers_.size(); }
  const TransformerConfig& config() const { return config_; }
  nn::ParameterSet& parameters() { return parameters_; }
  const nn::ParameterSet& parameters() const { return parameters_; }

 private:
  TransformerConfig config_;
  nn::ParameterSet parameters_;
  nn::ParameterHandle source_table_;
  nn::ParameterHandle target_table_;
  nn::ParameterHandle output_weight_;
  nn::ParameterHandle output_bias_;  // null when there is none
  nn::TokenEmbedding source_embedding_;
  nn::TokenEmbedding target_embedding_;
  std::vector<nn::EncoderLayer> encoder_layers_;
  std::vector<nn::DecoderLayer> decoder_layers_;
  std::unique_ptr<nn::LayerNorm> encoder_norm_;  // pre-norm only
  std::unique_ptr<nn::LayerNorm> decoder_norm_;
};

}  // namespace dragoman::models
