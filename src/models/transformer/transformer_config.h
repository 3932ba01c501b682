#pragma once

#include <string>
#include <string_view>

#include "models/model_config.h"
#include "nn/layer_config.h"
#include "nn/token_embedding.h"

namespace dragoman::models {

/// Which of the three [V, D] matrices are one (paper, section 3.4: all three).
enum class Tying {
  kNone,    ///< source embedding, target embedding and output weight apart
  kTarget,  ///< target embedding = output weight
  kAll,     ///< all three; needs one joint vocabulary
};

/// An encoder-decoder Transformer, complete and checked. JSON keys and flags carry the same names.
struct TransformerConfig {
  static constexpr std::string_view kArchitecture = "transformer";

  int64_t source_vocab_size = 0;
  int64_t target_vocab_size = 0;
  int64_t d_model = 512;
  int64_t d_ff = 2048;
  int n_heads = 8;
  int encoder_layers = 6;
  int decoder_layers = 6;
  int64_t decoder_d_ff = 0;  ///< of the decoder alone; 0 = d_ff
  int decoder_n_heads = 0;   ///< of the decoder alone; 0 = n_heads
  nn::NormOrder norm_order = nn::NormOrder::kPost;
  kernels::Activation activation = kernels::Activation::kRelu;
  nn::PositionKind positions = nn::PositionKind::kSinusoidal;
  int64_t max_positions = 1024;  ///< longest source or target in tokens, sentence end included
  Tying tying = Tying::kAll;
  bool output_bias = false;  ///< logits = hidden E^T + b; the paper has no b
  float dropout = 0.1F;
  float attention_dropout = 0.0F;
  float activation_dropout = 0.0F;
  float source_word_dropout = 0.0F;  ///< of whole words of the encoder's input (ops::row_dropout)
  float target_word_dropout = 0.0F;  ///< of whole words of the decoder's input
  float layer_norm_epsilon = 1e-5F;

  /// Throws Error(kUsage) naming field, rule and value: "d_model is 100, must be a multiple of n_heads (8)".
  void check() const;
  ModelSizes sizes() const { return {source_vocab_size, target_vocab_size, d_model, max_positions}; }
  nn::LayerConfig encoder_layer() const;
  nn::LayerConfig decoder_layer() const;
};

/// `shape` with the dropouts of `asked`: what a training run makes of a model that it starts from.
TransformerConfig with_dropouts_of(TransformerConfig shape, const TransformerConfig& asked);

/// JSON text of config.json and back. The reader throws Error(kBadData) for unknown keys (nearest known name
/// suggested), missing keys, wrong types and whatever check() refuses. decoder_d_ff, decoder_n_heads, output_bias and
/// the word dropouts may be missing: their defaults, as in models made before there were any.
std::string to_json(const TransformerConfig& config);
TransformerConfig transformer_config_from_json(std::string_view text, std::string_view file_name);

/// Names of enumerators as they stand in JSON and on the command line, and back (Error(kUsage) lists the choices).
std::string_view name_of(nn::NormOrder order);
std::string_view name_of(kernels::Activation activation);
std::string_view name_of(nn::PositionKind kind);
std::string_view name_of(Tying tying);
nn::NormOrder norm_order_from(std::string_view name);
kernels::Activation activation_from(std::string_view name);
nn::PositionKind position_kind_from(std::string_view name);
Tying tying_from(std::string_view name);

}  // namespace dragoman::models
