#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "models/encoder_only/encoder_only_config.h"
#include "models/model.h"
#include "nn/encoder_layer.h"
#include "nn/linear.h"
#include "nn/norm.h"
#include "nn/token_embedding.h"

namespace dragoman::models {

/// An encoder without a decoder: BERT (Devlin et al. 2019), RoBERTa (Liu et al. 2019), DistilBERT (Sanh et al. 2019),
/// as the configuration says. `forward` reads the source side of its input alone. It does not generate.
/// Parameter paths: embedding.weight, embedding.positions (learned positions), embedding.segments, embedding.norm.*,
/// layers.I.*, norm.* (pre-norm), pooler.*; of the head for words transform.*, transform.norm.* and output.bias, with
/// the embedding as output weight; of the other heads output.weight and output.bias.
/// Threads: `forward` functions are const and keep no state, so several threads may use one model for inference.
class EncoderOnly : public Model {
 public:
  explicit EncoderOnly(const EncoderOnlyConfig& config);

  /// Returns: what the output layer is applied to: for classes [B, D], for words and tags [K, D] of the rows that
  /// TokenRows::chosen names, or of all. Without a head: the vectors of the texts [B, D], as `pooling` says.
  Variable forward(const ModelInput& input, const nn::ForwardContext& context) const override;
  OutputLayer output() const override;
  std::unique_ptr<Generation> begin_generation() const override { return nullptr; }
  double forward_flops(int64_t source_length, int64_t target_length) const override;
  bool can_be_recorded() const override {
    return encoder_config().head != EncoderHead::kClasses || encoder_config().class_pooling != Pooling::kMean;
  }
  const ModelConfig& config() const override { return config_; }
  const EncoderOnlyConfig& encoder_config() const { return *config_.get_if<EncoderOnlyConfig>(); }

  /// @return the last layer's rows [N, D]
  Variable encode(const TokenRows& rows, const nn::ForwardContext& context) const;
  /// @param hidden  [N, D] of `encode`;  @return the first row of each text behind the pooler [B, D]
  /// Requires: the model has a pooler, and no text is empty.
  Variable pooled(const Variable& hidden, const TokenRows& rows) const;
  /// @param hidden  [N, D] of `encode`;  @return what stands for each text [B, D]; of any length
  /// Requires: no text is empty; for Pooling::kPooler, the model has a pooler.
  Variable text_vectors(const Variable& hidden, const TokenRows& rows, Pooling pooling) const;

 private:
  Variable embed(const TokenRows& rows, const nn::ForwardContext& context) const;
  Variable with_dropout(const Variable& x, const char* site, const nn::ForwardContext& context) const;

  ModelConfig config_;
  nn::ParameterHandle table_;
  nn::TokenEmbedding embedding_;
  nn::ParameterHandle segments_;  // null without segments
  std::optional<nn::Norm> embedding_norm_;
  std::vector<nn::EncoderLayer> layers_;
  std::optional<nn::Norm> norm_;  // pre-norm only
  std::optional<nn::Linear> pooler_;
  std::optional<nn::Linear> transform_;  // of the head for words
  std::optional<nn::Norm> transform_norm_;
  nn::ParameterHandle output_weight_;  // null without a head
  nn::ParameterHandle output_bias_;
};

}  // namespace dragoman::models
