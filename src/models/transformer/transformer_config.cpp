#include "models/transformer/transformer_config.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/error.h"
#include "base/field_json.h"
#include "base/json.h"

namespace dragoman::models {
namespace {

using nlohmann::json;

constexpr const char* kArchitectureKey = "architecture";
constexpr auto kAll = [](const auto&) { return true; };

// Keys that models made before there were any lack.
bool is_added_later(std::string_view key) {
  constexpr std::array<std::string_view, 5> kKeys = {"source_word_dropout", "target_word_dropout", "decoder_d_ff",
                                                     "decoder_n_heads", "output_bias"};
  const std::vector<std::string> of_layers = base::names_of_fields<nn::LayerOptions>(kAll);
  return std::ranges::find(kKeys, key) != kKeys.end() || std::ranges::find(of_layers, key) != of_layers.end();
}

// Refuses unknown keys, missing keys and another architecture.
void check_keys(const base::JsonFields& fields, std::string_view file_name) {
  std::vector<std::string> known = base::names_of_fields<TransformerConfig>(kAll);
  known.emplace_back(kArchitectureKey);
  fields.check_known(known);
  base::check_data(fields.text(kArchitectureKey) == TransformerConfig::kArchitecture,
                   "{}: architecture is \"{}\", this program knows \"transformer\"", file_name,
                   fields.text(kArchitectureKey));
  for (const std::string& key : known) {
    if (!is_added_later(key)) {
      static_cast<void>(fields.value(key));
    }
  }
}

}  // namespace

void TransformerConfig::check() const {
  base::check_fields(*this);
  base::check_usage(layer.d_head > 0 || d_model % n_heads == 0, "d_model is {}, must be a multiple of n_heads ({})",
                    d_model, n_heads);
  base::check_usage(decoder_n_heads == 0 || d_model % decoder_n_heads == 0,
                    "d_model is {}, must be a multiple of decoder_n_heads ({})", d_model, decoder_n_heads);
  base::check_usage(positions != nn::PositionKind::kSinusoidal || d_model % 2 == 0,
                    "d_model is {}, must be even for sinusoidal positions", d_model);
  base::check_usage(tying != Tying::kAll || source_vocab_size == target_vocab_size,
                    "tying \"all\" needs one joint vocabulary, but the source has {} pieces and the target {}; use "
                    "tying \"target\" or a joint vocabulary",
                    source_vocab_size, target_vocab_size);
}

ModelSizes TransformerConfig::sizes() const {
  const nn::LayerConfig decoder = decoder_layer();
  return {source_vocab_size, target_vocab_size,    d_model,
          max_positions,     tying == Tying::kAll, 2 * decoder_layers * decoder.kv_heads() * decoder.head_width()};
}

void TransformerConfig::set_vocabulary_sizes(int64_t source, int64_t target) {
  source_vocab_size = source;
  target_vocab_size = target;
}

std::vector<std::pair<std::string, std::string>> TransformerConfig::facts() const {
  return {{"layers", fmt::format("{} + {}", encoder_layers, decoder_layers)},
          {"d_model / d_ff / heads", fmt::format("{} / {} / {}", d_model, d_ff, n_heads)},
          {"norm", std::string(name_of(norm_order))},
          {"vocabulary", fmt::format("{} / {}", source_vocab_size, target_vocab_size)}};
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
  return decoder;
}

std::string to_json(const TransformerConfig& config) {
  json tree = base::json_of_fields(config, kAll);
  const json defaults = base::json_of_fields(nn::LayerOptions(), kAll);
  for (const auto& [key, value] : defaults.items()) {
    if (tree[key] == value) {
      tree.erase(key);
    }
  }
  tree[kArchitectureKey] = TransformerConfig::kArchitecture;
  return base::dump_json(tree, 2) + "\n";
}

TransformerConfig transformer_config_from_json(std::string_view text, std::string_view file_name) try {
  const json tree = base::parse_json(text, file_name);
  const base::JsonFields fields(tree, std::string(file_name));
  check_keys(fields, file_name);
  TransformerConfig config;
  base::read_fields(fields, config, kAll);
  config.check();
  return config;
} catch (const base::Error& error) {
  if (error.kind() == base::ErrorKind::kBadData) {
    throw;
  }
  base::fail(base::ErrorKind::kBadData, "{}: {}", file_name, error.what());
}

}  // namespace dragoman::models
