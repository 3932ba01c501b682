#include "interop/encoder_decoder_trees.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json.h"

namespace dragoman::interop {

using nlohmann::json;

json encoder_decoder_tree(const models::TransformerConfig& config, std::string_view activation) {
  const nn::LayerConfig encoder = config.encoder_layer(), decoder = config.decoder_layer();
  return {{"is_encoder_decoder", true},
          {"d_model", config.d_model},
          {"encoder_layers", config.encoder_layers},
          {"decoder_layers", config.decoder_layers},
          {"num_hidden_layers", config.encoder_layers},
          {"encoder_attention_heads", encoder.n_heads},
          {"decoder_attention_heads", decoder.n_heads},
          {"encoder_ffn_dim", encoder.d_ff},
          {"decoder_ffn_dim", decoder.d_ff},
          {"activation_function", activation},
          {"max_position_embeddings", config.max_positions},
          {"dropout", base::decimal(config.dropout)},
          {"attention_dropout", base::decimal(config.attention_dropout)},
          {"activation_dropout", base::decimal(config.activation_dropout)},
          {"encoder_layerdrop", 0.0},
          {"decoder_layerdrop", 0.0},
          {"init_std", 0.02},
          {"use_cache", true}};
}

json search_tree(const models::TransformerConfig& config, const ExportedSearch& search) {
  return {{"num_beams", search.beam_size},
          {"length_penalty", search.length_penalty.value_or(1.0)},
          {"max_length", std::min<int64_t>(config.max_positions, 512)}};
}

}  // namespace dragoman::interop
