#include "models/decoder_only/decoder_only_config.h"

#include "models/config_json.h"
#include "nn/rotation.h"

namespace dragoman::models {
void DecoderOnlyConfig::check() const {
  base::check_fields(*this);
  base::check_usage(layer.norm != kernels::NormKind::kBatch,
                    "norm is \"batch\", which is for the encoder of a translation model; must be one of layer, rms");
  base::check_usage(layer.d_head > 0 || d_model % n_heads == 0, "d_model is {}, must be a multiple of n_heads ({})",
                    d_model, n_heads);
  base::check_usage(layer.n_kv_heads == 0 || n_heads % layer.n_kv_heads == 0,
                    "n_heads is {}, must be a multiple of n_kv_heads ({})", n_heads, layer.n_kv_heads);
  base::check_usage(positions != nn::PositionKind::kSinusoidal || d_model % 2 == 0,
                    "d_model is {}, must be even for sinusoidal positions", d_model);
  base::check_usage(
      positions != nn::PositionKind::kRelative,
      "positions is relative, which architecture decoder-only does not have; use rope, learned or sinusoidal");
  nn::check_key_width(layer_config(), positions);
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
  nlohmann::json tree = base::json_of_fields(config, kEveryField);
  tree[kArchitectureKey] = DecoderOnlyConfig::kArchitecture;
  return base::dump_json(tree, 2) + "\n";
}

DecoderOnlyConfig decoder_only_config_from_json(std::string_view text, std::string_view file_name) {
  return read_config<DecoderOnlyConfig>(text, file_name, base::names_of_fields<nn::LayerOptions>(kEveryField));
}

}  // namespace dragoman::models
