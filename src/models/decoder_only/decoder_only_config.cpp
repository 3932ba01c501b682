#include "models/decoder_only/decoder_only_config.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/field_json.h"
#include "base/json.h"

namespace dragoman::models {
namespace {

using nlohmann::json;

constexpr const char* kArchitectureKey = "architecture";
constexpr auto kAll = [](const auto&) { return true; };

// Refuses unknown keys and missing ones.
void check_keys(const base::JsonFields& fields) {
  std::vector<std::string> known = base::names_of_fields<DecoderOnlyConfig>(kAll);
  known.emplace_back(kArchitectureKey);
  fields.check_known(known);
  const std::vector<std::string> optional = base::names_of_fields<nn::LayerOptions>(kAll);
  for (const std::string& key : known) {
    if (std::ranges::find(optional, key) == optional.end()) {
      static_cast<void>(fields.value(key));
    }
  }
}

}  // namespace

void DecoderOnlyConfig::check() const {
  base::check_fields(*this);
  base::check_usage(layer.d_head > 0 || d_model % n_heads == 0, "d_model is {}, must be a multiple of n_heads ({})",
                    d_model, n_heads);
  base::check_usage(layer.n_kv_heads == 0 || n_heads % layer.n_kv_heads == 0,
                    "n_heads is {}, must be a multiple of n_kv_heads ({})", n_heads, layer.n_kv_heads);
  base::check_usage(positions != nn::PositionKind::kSinusoidal || d_model % 2 == 0,
                    "d_model is {}, must be even for sinusoidal positions", d_model);
  base::check_usage(positions != nn::PositionKind::kRotary || layer_config().head_width() % 2 == 0,
                    "d_head is {}, must be even for rotary positions", layer_config().head_width());
}

ModelSizes DecoderOnlyConfig::sizes() const {
  const nn::LayerConfig of_layer = layer_config();
  return {.source_vocab_size = 0,
          .target_vocab_size = vocab_size,
          .d_model = d_model,
          .max_positions = max_positions,
          .one_vocabulary = false,
          .state_floats = 2 * layers * of_layer.kv_heads() * of_layer.head_width()};
}

void DecoderOnlyConfig::set_vocabulary_sizes(int64_t /*source*/, int64_t target) {
  vocab_size = target;
}

std::vector<std::pair<std::string, std::string>> DecoderOnlyConfig::facts() const {
  return {{"layers", fmt::format("{}", layers)},
          {"d_model / d_ff / heads", fmt::format("{} / {} / {}", d_model, d_ff, n_heads)},
          {"norm", fmt::format("{} {}", base::name_of(norm_order), base::name_of(layer.norm))},
          {"positions", fmt::format("{}, context {}", base::name_of(positions), max_positions)},
          {"vocabulary", fmt::format("{}", vocab_size)}};
}

nn::LayerConfig DecoderOnlyConfig::layer_config() const {
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
          2 * layers};
}

std::string to_json(const DecoderOnlyConfig& config) {
  json tree = base::json_of_fields(config, kAll);
  tree[kArchitectureKey] = DecoderOnlyConfig::kArchitecture;
  return base::dump_json(tree, 2) + "\n";
}

DecoderOnlyConfig decoder_only_config_from_json(std::string_view text, std::string_view file_name) try {
  const json tree = base::parse_json(text, file_name);
  const base::JsonFields fields(tree, std::string(file_name));
  check_keys(fields);
  DecoderOnlyConfig config;
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
