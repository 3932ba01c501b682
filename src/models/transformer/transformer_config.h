#pragma once

#include <string>
#include <string_view>

#include "base/fields.h"
#include "models/model_config.h"
#include "models/tying.h"
#include "nn/layer_config.h"
#include "nn/token_embedding.h"

namespace dragoman::models {

using base::name_of;

/// An encoder-decoder Transformer, complete and checked. `fields` says of each field what it means.
struct TransformerConfig {
  static constexpr std::string_view kArchitecture = "transformer";

  int64_t source_vocab_size = 0;
  int64_t target_vocab_size = 0;
  int64_t d_model = 512;
  int64_t d_ff = 2048;
  int n_heads = 8;
  int encoder_layers = 6;
  int decoder_layers = 6;
  nn::DecoderSublayer decoder_sublayer = nn::DecoderSublayer::kSelfAttention;
  int64_t decoder_d_ff = 0;  ///< of the decoder alone; 0 = d_ff
  int decoder_n_heads = 0;   ///< of the decoder alone; 0 = n_heads
  nn::NormOrder norm_order = nn::NormOrder::kPost;
  kernels::Activation activation = kernels::Activation::kRelu;
  nn::PositionKind positions = nn::PositionKind::kSinusoidal;
  int64_t max_positions = 1024;  ///< longest source or target in tokens, sentence end included
  Tying tying = Tying::kAll;
  bool output_bias = false;     ///< logits = hidden E^T + b; the paper has no b
  bool scale_output = false;    ///< logits = hidden E^T / sqrt(D), for tables whose rows are not short
  bool embedding_norm = false;  ///< a norm behind embeddings and positions of both sides
  float dropout = 0.1F;
  float attention_dropout = 0.0F;
  float activation_dropout = 0.0F;
  float source_word_dropout = 0.0F;  ///< of whole words of the encoder's input (ops::row_dropout)
  float target_word_dropout = 0.0F;  ///< of whole words of the decoder's input
  float layer_norm_epsilon = 1e-5F;
  nn::LayerOptions layer = {};  ///< beyond the paper's

  static constexpr const char* kTitle = "Shape of the model";  ///< in --help
  static constexpr const char* kDropouts = "Dropout";          ///< another title
  /// Calls visit(base::Field) for each field. Flags of `dragoman train` stand in this order in --help.
  template <typename Visit>
  static void fields(Visit&& visit);
  /// Calls visit(member pointer) for the options of the layers.
  template <typename Visit>
  static void parts(Visit&& visit) {
    visit(&TransformerConfig::layer);
  }

  /// Throws Error(kUsage) naming field, rule and value: "d_model is 100, must be a multiple of n_heads (8)".
  void check() const;
  ModelSizes sizes() const;
  void set_vocabulary_sizes(int64_t source, int64_t target);
  std::vector<std::pair<std::string, std::string>> facts() const;
  nn::LayerConfig encoder_layer() const;
  nn::LayerConfig decoder_layer() const;
};

template <typename Visit>
void TransformerConfig::fields(Visit&& visit) {
  using base::Field;
  using C = TransformerConfig;
  constexpr base::Range kDropout = {0.0, 0.95};
  visit(Field("encoder_layers", &C::encoder_layers, "Layers of the encoder", {1, 512}));
  visit(Field("decoder_layers", &C::decoder_layers, "Layers of the decoder", {1, 512}));
  visit(Field("decoder_sublayer", &C::decoder_sublayer, "How a row of the decoder sees the rows before it"));
  visit(Field("d_model", &C::d_model, "Width of the model", {1, 65'536}));
  visit(Field("d_ff", &C::d_ff, "Width of the feed-forward", {1, 262'144}));
  visit(Field("n_heads", &C::n_heads, "Attention heads; divides --d-model", {1, 1024}));
  visit(Field("norm_order", &C::norm_order, "Layer norm after the residual sum (the paper) or before the sub-layer"));
  visit(Field("activation", &C::activation, "Activation of the feed-forward"));
  visit(Field("positions", &C::positions, "Position encoding"));
  visit(Field("max_positions", &C::max_positions, "Longest sentence, end included", {2, 1 << 20}, "tokens"));
  visit(Field("tying", &C::tying, "Which of source embedding, target embedding and output weight are one"));
  visit(
      Field("dropout", &C::dropout, "Probability, on sub-layer outputs and embeddings", kDropout).in(base::kMostUsed));
  visit(Field("attention_dropout", &C::attention_dropout, "Probability, on attention weights", kDropout).in(kDropouts));
  visit(Field("activation_dropout", &C::activation_dropout, "Probability, inside the feed-forward", kDropout)
            .in(kDropouts));
  visit(Field("source_word_dropout", &C::source_word_dropout, "Probability, of whole source words", kDropout)
            .in(kDropouts));
  visit(Field("target_word_dropout", &C::target_word_dropout, "Probability, of whole target words", kDropout)
            .in(kDropouts));
  visit(Field("source_vocab_size", &C::source_vocab_size, "Pieces of the source", {4, 1 << 24}).without_flag());
  visit(Field("target_vocab_size", &C::target_vocab_size, "Pieces of the target", {4, 1 << 24}).without_flag());
  visit(Field("decoder_d_ff", &C::decoder_d_ff, "d_ff of the decoder alone; 0 = d_ff", {0, 262'144}).without_flag());
  visit(Field("decoder_n_heads", &C::decoder_n_heads, "n_heads of the decoder alone; 0 = n_heads", {0, 1024})
            .without_flag());
  visit(Field("output_bias", &C::output_bias, "Logits have a bias, which the paper's have not").without_flag());
  visit(Field("scale_output", &C::scale_output, "Logits are divided by the root of d_model"));
  visit(Field("embedding_norm", &C::embedding_norm, "A norm behind the embeddings of both sides"));
  visit(Field("layer_norm_epsilon", &C::layer_norm_epsilon, "Added to the variance in layer norm", {1e-12, 0.1})
            .without_flag());
}

/// JSON text of config.json and back. The reader throws Error(kBadData) for unknown keys (a near name
/// suggested), missing keys, wrong types and whatever check() refuses. decoder_sublayer, decoder_d_ff,
/// decoder_n_heads, output_bias, scale_output, embedding_norm, the word dropouts and the options of the layers may be
/// missing: their defaults, as in models made before there were any. The writer leaves out what older programs do not
/// know at its default: decoder_sublayer, scale_output, embedding_norm and options of the layers.
std::string to_json(const TransformerConfig& config);
TransformerConfig transformer_config_from_json(std::string_view text, std::string_view file_name);

}  // namespace dragoman::models
