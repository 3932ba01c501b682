#include "models/architectures/architectures.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json.h"
#include "models/architectures/more_architectures.h"
#include "models/convolutional/convolutional.h"
#include "models/decoder_only/decoder_only.h"
#include "models/encoder_only/encoder_only.h"
#include "models/recurrent/recurrent.h"
#include "models/transformer/transformer.h"

namespace dragoman::models {
namespace {

ModelConfig transformer_config(std::string_view text, std::string_view file_name) {
  return transformer_config_from_json(text, file_name);
}

std::unique_ptr<Model> make_transformer(const ModelConfig& config) {
  return std::make_unique<Transformer>(*config.get_if<TransformerConfig>());
}

ModelConfig decoder_only_config(std::string_view text, std::string_view file_name) {
  return decoder_only_config_from_json(text, file_name);
}

std::unique_ptr<Model> make_decoder_only(const ModelConfig& config) {
  return std::make_unique<DecoderOnly>(*config.get_if<DecoderOnlyConfig>());
}

ModelConfig recurrent_config(std::string_view text, std::string_view file_name) {
  return recurrent_config_from_json(text, file_name);
}

std::unique_ptr<Model> make_recurrent(const ModelConfig& config) {
  return std::make_unique<Recurrent>(*config.get_if<RecurrentConfig>());
}

ModelConfig encoder_only_config(std::string_view text, std::string_view file_name) {
  return encoder_only_config_from_json(text, file_name);
}

std::unique_ptr<Model> make_encoder_only(const ModelConfig& config) {
  return std::make_unique<EncoderOnly>(*config.get_if<EncoderOnlyConfig>());
}

ModelConfig convolutional_config(std::string_view text, std::string_view file_name) {
  return convolutional_config_from_json(text, file_name);
}

std::unique_ptr<Model> make_convolutional(const ModelConfig& config) {
  return std::make_unique<Convolutional>(*config.get_if<ConvolutionalConfig>());
}

constexpr Architecture kArchitectures[] = {
    {TransformerConfig::kArchitecture, transformer_config, make_transformer},
    {DecoderOnlyConfig::kArchitecture, decoder_only_config, make_decoder_only},
    {EncoderOnlyConfig::kArchitecture, encoder_only_config, make_encoder_only},
    {RecurrentConfig::kArchitecture, recurrent_config, make_recurrent},
    {ConvolutionalConfig::kArchitecture, convolutional_config, make_convolutional},
};

std::string listed(const std::vector<Architecture>& known) {
  std::string names;
  for (const Architecture& architecture : known) {
    names += (names.empty() ? "" : ", ") + std::string(architecture.name);
  }
  return names;
}

// What the key "architecture" says. A text without that key is left to the Transformer's reader, which says what is
// wrong with it.
std::string architecture_named_in(std::string_view text, std::string_view file_name) {
  const nlohmann::json tree = base::parse_json(text, file_name);
  const bool is_named = tree.is_object() && tree.contains("architecture") && tree["architecture"].is_string();
  return is_named ? tree["architecture"].get<std::string>() : std::string(TransformerConfig::kArchitecture);
}

// Null if there is none of this name.
const Architecture* find(const std::vector<Architecture>& known, std::string_view name) {
  const auto found = std::ranges::find(known, name, &Architecture::name);
  return found == known.end() ? nullptr : &*found;
}

}  // namespace

std::vector<Architecture> architectures() {
  std::vector<Architecture> all(std::begin(kArchitectures), std::end(kArchitectures));
  const auto more = more_architectures();
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

ModelConfig config_from_json(std::string_view text, std::string_view file_name) {
  const auto known = architectures();
  const std::string name = architecture_named_in(text, file_name);
  const Architecture* architecture = find(known, name);
  base::check_data(architecture != nullptr, "{}: architecture is \"{}\", must be one of {}", file_name, name,
                   listed(known));
  return architecture->config_from_json(text, file_name);
}

std::unique_ptr<Model> make_model(const ModelConfig& config) {
  const auto known = architectures();
  const Architecture* architecture = find(known, config.architecture());
  base::check_usage(architecture != nullptr, "model: architecture is \"{}\", must be one of {}", config.architecture(),
                    listed(known));
  return architecture->make(config);
}

std::shared_ptr<const Model> make_inference_model(const Model& model) {
  std::shared_ptr<Model> copy = make_model(model.config());
  copy->parameters().share_values(model.parameters());
  copy->parameters().pack_weights();
  return copy;
}

}  // namespace dragoman::models
