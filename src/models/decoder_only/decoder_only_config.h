#pragma once

#include <string>
#include <string_view>

#include "base/fields.h"
#include "models/model_config.h"
#include "nn/layer_config.h"
#include "nn/token_embedding.h"

namespace dragoman::models {

/// A decoder without an encoder: a language model, complete and checked. `fields` says of each field what it means. The
/// defaults are those of GPT-2 with 124 million parameters (Radford et al. 2019); with RMSNorm, rotary positions, a
/// gated feed-forward and no biases it is a Llama (Touvron et al. 2023).
struct DecoderOnlyConfig {
  static constexpr std::string_view kArchitecture = "decoder-only";

  int64_t vocab_size = 0;
  int layers = 12;
  int64_t d_model = 768;
  int64_t d_ff = 3072;
  int n_heads = 12;
  nn::NormOrder norm_order = nn::NormOrder::kPre;
  kernels::Activation activation = kernels::Activation::kGeluTanh;
  nn::PositionKind positions = nn::PositionKind::kLearned;
  int64_t max_positions = 1024;  ///< tokens of the longest text, the context
  bool tied_output = true;       ///< output weight = embedding
  float dropout = 0.0F;
  float attention_dropout = 0.0F;
  float activation_dropout = 0.0F;
  float layer_norm_epsilon = 1e-5F;
  nn::LayerOptions layer = as_gpt2();

  static constexpr const char* kTitle = "Shape of the model";  ///< in --help
  /// Calls visit(base::Field) for each field. Flags of `dragoman train` stand in this order in --help.
  template <typename Visit>
  static void fields(Visit&& visit);
  /// Calls visit(member pointer) for the options of the layers.
  template <typename Visit>
  static void parts(Visit&& visit) {
    visit(&DecoderOnlyConfig::layer);
  }

  /// Throws Error(kUsage) naming field, rule and value: "d_model is 100, must be a multiple of n_heads (8)".
  void check() const;
  ModelSizes sizes() const;
  void set_vocabulary_sizes(int64_t source, int64_t target);
  std::vector<std::pair<std::string, std::string>> facts() const;
  /// Returns: what a layer needs to know; without the table of rotations, which the model makes.
  nn::LayerConfig layer_config() const;

 private:
  static nn::LayerOptions as_gpt2();
};

inline nn::LayerOptions DecoderOnlyConfig::as_gpt2() {
  nn::LayerOptions options;
  options.scale_embedding = false;
  options.initial_weights = nn::InitialWeights::kGpt2;
  return options;
}

template <typename Visit>
void DecoderOnlyConfig::fields(Visit&& visit) {
  using base::Field;
  using C = DecoderOnlyConfig;
  constexpr base::Range kDropout = {0.0, 0.95};
  visit(Field("layers", &C::layers, "Layers of a decoder without an encoder, or of an encoder without a decoder",
              {1, 512}));
  visit(Field("d_model", &C::d_model, "Width of the model", {1, 65'536}));
  visit(Field("d_ff", &C::d_ff, "Width of the feed-forward", {1, 262'144}));
  visit(Field("n_heads", &C::n_heads, "Attention heads; divides --d-model", {1, 1024}));
  visit(Field("norm_order", &C::norm_order, "Layer norm after the residual sum or before the sub-layer"));
  visit(Field("activation", &C::activation, "Activation of the feed-forward"));
  visit(Field("positions", &C::positions, "Position encoding"));
  visit(Field("max_positions", &C::max_positions, "Context of the model", {2, 1 << 20}, "tokens"));
  visit(
      Field("tied_output", &C::tied_output, "The output weight of a language model is its embedding (true or false)"));
  visit(
      Field("dropout", &C::dropout, "Probability, on sub-layer outputs and embeddings", kDropout).in(base::kMostUsed));
  visit(Field("attention_dropout", &C::attention_dropout, "Probability, on attention weights", kDropout));
  visit(Field("activation_dropout", &C::activation_dropout, "Probability, inside the feed-forward", kDropout));
  visit(Field("vocab_size", &C::vocab_size, "Pieces", {1, 1 << 24}).without_flag());
  visit(Field("layer_norm_epsilon", &C::layer_norm_epsilon, "Added to the variance in layer norm", {1e-12, 0.1})
            .without_flag());
}

/// JSON text of config.json and back. The reader throws Error(kBadData) for unknown keys (a near name suggested),
/// missing keys, wrong types and whatever check() refuses. Options of the layers may be missing: their defaults.
std::string to_json(const DecoderOnlyConfig& config);
DecoderOnlyConfig decoder_only_config_from_json(std::string_view text, std::string_view file_name);

}  // namespace dragoman::models
