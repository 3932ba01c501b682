#include "models/recurrent/recurrent_config.h"

#include "models/config_json.h"

namespace dragoman::models {

void RecurrentConfig::check() const {
  base::check_fields(*this);
  base::check_usage(
      !input_feeding || attention == RecurrentAttention::kLuong,
      "input_feeding true is for attention \"luong\"; attention is \"{}\", which needs input_feeding false",
      base::name_of(attention));
  check_tying(tying, source_vocab_size, target_vocab_size);
}

ModelSizes RecurrentConfig::sizes() const {
  return {source_vocab_size, target_vocab_size,        d_model,
          max_positions,     shares_embeddings(tying), d_context() + d_key()};
}

void RecurrentConfig::set_vocabulary_sizes(int64_t source, int64_t target) {
  source_vocab_size = source;
  target_vocab_size = target;
}

std::vector<std::pair<std::string, std::string>> RecurrentConfig::facts() const {
  return {{"cell", std::string(base::name_of(cell))},
          {"layers", fmt::format("{} + {}", layers, layers)},
          {"d_model / d_hidden", fmt::format("{} / {}", d_model, d_hidden)},
          {"attention", fmt::format("{}{}", base::name_of(attention), input_feeding ? ", input feeding" : "")},
          {"vocabulary", fmt::format("{} / {}", source_vocab_size, target_vocab_size)}};
}

nn::LayerConfig RecurrentConfig::embedding() const {
  nn::LayerConfig config;
  config.d_model = d_model;
  config.n_heads = 1;
  config.dropout = dropout;
  return config;
}

std::string to_json(const RecurrentConfig& config) {
  nlohmann::json tree = base::json_of_fields(config, kEveryField);
  tree[kArchitectureKey] = RecurrentConfig::kArchitecture;
  return base::dump_json(tree, 2) + "\n";
}

RecurrentConfig recurrent_config_from_json(std::string_view text, std::string_view file_name) {
  return read_config<RecurrentConfig>(text, file_name, {"source_word_dropout", "target_word_dropout"});
}

}  // namespace dragoman::models
