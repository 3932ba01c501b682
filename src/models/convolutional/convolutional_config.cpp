#include "models/convolutional/convolutional_config.h"

#include "models/config_json.h"

namespace dragoman::models {

void ConvolutionalConfig::check() const {
  base::check_fields(*this);
  check_tying(tying, source_vocab_size, target_vocab_size);
}

ModelSizes ConvolutionalConfig::sizes() const {
  return {source_vocab_size, target_vocab_size, d_model, max_positions, shares_embeddings(tying), 2 * d_model};
}

void ConvolutionalConfig::set_vocabulary_sizes(int64_t source, int64_t target) {
  source_vocab_size = source;
  target_vocab_size = target;
}

std::vector<std::pair<std::string, std::string>> ConvolutionalConfig::facts() const {
  return {{"layers", fmt::format("{} + {}", encoder_layers, decoder_layers)},
          {"d_model / d_hidden", fmt::format("{} / {}", d_model, d_hidden)},
          {"kernel width", fmt::format("{}{}", kernel_width, weight_norm ? ", weight normalisation" : "")},
          {"vocabulary", fmt::format("{} / {}", source_vocab_size, target_vocab_size)}};
}

nn::LayerConfig ConvolutionalConfig::embedding() const {
  nn::LayerConfig config;
  config.d_model = d_model;
  config.n_heads = 1;
  config.dropout = dropout;
  config.options.scale_embedding = scale_embedding;
  return config;
}

std::string to_json(const ConvolutionalConfig& config) {
  nlohmann::json tree = base::json_of_fields(config, kEveryField);
  if (!config.weight_norm) {
    tree.erase("weight_norm");  // which older programs do not know
  }
  if (config.scale_embedding) {
    tree.erase("scale_embedding");  // likewise
  }
  tree[kArchitectureKey] = ConvolutionalConfig::kArchitecture;
  return base::dump_json(tree, 2) + "\n";
}

ConvolutionalConfig convolutional_config_from_json(std::string_view text, std::string_view file_name) {
  return read_config<ConvolutionalConfig>(
      text, file_name, {"weight_norm", "scale_embedding", "source_word_dropout", "target_word_dropout"});
}

}  // namespace dragoman::models
