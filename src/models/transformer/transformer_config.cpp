#include "models/transformer/transformer_config.h"

#include "models/config_json.h"
#include "nn/rotation.h"

namespace dragoman::models {
namespace {

// Keys that models made before there were any lack.
std::vector<std::string> added_later() {
  std::vector<std::string> keys = base::names_of_fields<nn::LayerOptions>(kEveryField);
  keys.insert(keys.end(), {"source_word_dropout", "target_word_dropout", "decoder_d_ff", "decoder_n_heads",
                           "output_bias", "scale_output", "embedding_norm", "decoder_sublayer"});
  return keys;
}

}  // namespace

void TransformerConfig::check() const {
  base::check_fields(*this);
  base::check_usage(layer.d_head > 0 || d_model % n_heads == 0, "d_model is {}, must be a multiple of n_heads ({})",
                    d_model, n_heads);
  base::check_usage(decoder_n_heads == 0 || d_model % decoder_n_heads == 0,
                    "d_model is {}, must be a multiple of decoder_n_heads ({})", d_model, decoder_n_heads);
  base::check_usage(positions != nn::PositionKind::kRelative || layer.window == 0,
                    "window is {}, must be 0 with relative positions", layer.window);
  base::check_usage(decoder_sublayer == nn::DecoderSublayer::kSelfAttention || layer.window == 0,
                    "window is {}, must be 0 with decoder_sublayer {}", layer.window, name_of(decoder_sublayer));
  base::check_usage(layer.relative_buckets % 4 == 0 && layer.relative_distance > layer.relative_buckets / 2,
                    "relative_buckets is {}, must be a multiple of 4 and less than twice relative_distance ({})",
                    layer.relative_buckets, layer.relative_distance);
  base::check_usage(positions != nn::PositionKind::kSinusoidal || d_model % 2 == 0,
                    "d_model is {}, must be even for sinusoidal positions", d_model);
  nn::check_key_width(encoder_layer(), positions);
  nn::check_key_width(decoder_layer(), positions);
  base::check_usage(layer.n_kv_heads == 0 || n_heads % layer.n_kv_heads == 0,
                    "n_heads is {}, must be a multiple of n_kv_heads ({})", n_heads, layer.n_kv_heads);
  check_tying(tying, source_vocab_size, target_vocab_size);
}

ModelSizes TransformerConfig::sizes() const {
  const nn::LayerConfig decoder = decoder_layer();
  return {source_vocab_size, target_vocab_size,        d_model,
          max_positions,     shares_embeddings(tying), 2 * decoder_layers * decoder.n_heads * decoder.head_width()};
}

void TransformerConfig::set_vocabulary_sizes(int64_t source, int64_t target) {
  source_vocab_size = source;
  target_vocab_size = target;
}

std::vector<std::pair<std::string, std::string>> TransformerConfig::facts() const {
  std::vector<std::pair<std::string, std::string>> facts = {
      {"layers", fmt::format("{} + {}", encoder_layers, decoder_layers)},
      {"d_model / d_ff / heads", fmt::format("{} / {} / {}", d_model, d_ff, n_heads)},
      {"norm", std::string(name_of(norm_order))},
      {"vocabulary", fmt::format("{} / {}", source_vocab_size, target_vocab_size)}};
  if (decoder_sublayer != nn::DecoderSublayer::kSelfAttention) {
    facts.emplace_back("decoder sub-layer", name_of(decoder_sublayer));
  }
  return facts;
}

nn::LayerConfig TransformerConfig::encoder_layer() const {
  return {d_model,
          d_ff,
          n_heads,
          norm_order,
          activation,
          dropout,
          attention_dropout,
          activation_dropout,
          layer_norm_epsilon,
          layer,
          {},
          2 * (encoder_layers + decoder_layers)};
}

nn::LayerConfig TransformerConfig::decoder_layer() const {
  nn::LayerConfig decoder = encoder_layer();
  decoder.d_ff = decoder_d_ff > 0 ? decoder_d_ff : d_ff;
  decoder.n_heads = decoder_n_heads > 0 ? decoder_n_heads : n_heads;
  decoder.decoder_sublayer = decoder_sublayer;
  if (layer.norm == kernels::NormKind::kBatch) {  // statistics over all rows would let a row see later ones
    decoder.options.norm = kernels::NormKind::kLayer;
  }
  return decoder;
}

std::string to_json(const TransformerConfig& config) {
  nlohmann::json tree = base::json_of_fields(config, kEveryField);
  const nlohmann::json defaults = base::json_of_fields(nn::LayerOptions(), kEveryField);
  for (const auto& [key, value] : defaults.items()) {
    if (tree[key] == value) {
      tree.erase(key);
    }
  }
  for (const char* key : {"scale_output", "embedding_norm"}) {  // which older programs do not know
    if (tree[key] == false) {
      tree.erase(key);
    }
  }
  if (config.decoder_sublayer == nn::DecoderSublayer::kSelfAttention) {
    tree.erase("decoder_sublayer");
  }
  tree[kArchitectureKey] = TransformerConfig::kArchitecture;
  return base::dump_json(tree, 2) + "\n";
}

TransformerConfig transformer_config_from_json(std::string_view text, std::string_view file_name) {
  return read_config<TransformerConfig>(text, file_name, added_later());
}

}  // namespace dragoman::models
