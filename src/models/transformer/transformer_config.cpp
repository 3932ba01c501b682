#include "models/transformer/transformer_config.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "base/json_fields.h"

namespace dragoman::models {
namespace {

using nlohmann::json;

template <typename Enum>
struct Name {
  Enum value;
  std::string_view name;
};

constexpr Name<nn::NormOrder> kNormOrders[] = {{nn::NormOrder::kPost, "post"}, {nn::NormOrder::kPre, "pre"}};
constexpr Name<kernels::Activation> kActivations[] = {
    {kernels::Activation::kRelu, "relu"}, {kernels::Activation::kGelu, "gelu"}, {kernels::Activation::kSilu, "silu"}};
constexpr Name<nn::PositionKind> kPositionKinds[] = {{nn::PositionKind::kSinusoidal, "sinusoidal"},
                                                     {nn::PositionKind::kLearned, "learned"}};
constexpr Name<Tying> kTyings[] = {{Tying::kNone, "none"}, {Tying::kTarget, "target"}, {Tying::kAll, "all"}};

template <typename Enum, size_t N>
std::string_view find_name(const Name<Enum> (&names)[N], Enum value) {
  const auto* found = std::ranges::find(names, value, &Name<Enum>::value);
  return found == std::end(names) ? "none" : found->name;
}

template <typename Enum, size_t N>
Enum find_value(const Name<Enum> (&names)[N], const char* key, std::string_view name) {
  const auto* found = std::ranges::find(names, name, &Name<Enum>::name);
  std::vector<std::string> choices;
  std::ranges::transform(names, std::back_inserter(choices), [](const auto& entry) { return std::string(entry.name); });
  base::check_usage(found != std::end(names), "{} is \"{}\", must be one of {}", key, name, fmt::join(choices, ", "));
  return found->value;
}

json to_tree(const TransformerConfig& config) {
  return {{"architecture", TransformerConfig::kArchitecture},
          {"source_vocab_size", config.source_vocab_size},
          {"target_vocab_size", config.target_vocab_size},
          {"d_model", config.d_model},
          {"d_ff", config.d_ff},
          {"n_heads", config.n_heads},
          {"encoder_layers", config.encoder_layers},
          {"decoder_layers", config.decoder_layers},
          {"decoder_d_ff", config.decoder_d_ff},
          {"decoder_n_heads", config.decoder_n_heads},
          {"norm_order", name_of(config.norm_order)},
          {"activation", name_of(config.activation)},
          {"positions", name_of(config.positions)},
          {"max_positions", config.max_positions},
          {"tying", name_of(config.tying)},
          {"output_bias", config.output_bias},
          {"dropout", config.dropout},
          {"attention_dropout", config.attention_dropout},
          {"activation_dropout", config.activation_dropout},
          {"source_word_dropout", config.source_word_dropout},
          {"target_word_dropout", config.target_word_dropout},
          {"layer_norm_epsilon", config.layer_norm_epsilon}};
}

// Refuses unknown keys and fills in those that older files lack.
void complete_keys(json& tree, const std::string& file_name) {
  const json known = to_tree({});
  std::vector<std::string> names;
  for (const auto& [key, unused] : known.items()) {
    names.push_back(key);
  }
  base::JsonFields(tree, file_name).check_known(names);
  for (const char* added_later :
       {"source_word_dropout", "target_word_dropout", "decoder_d_ff", "decoder_n_heads", "output_bias"}) {
    tree.emplace(added_later, known[added_later]);
  }
}

float number(const base::JsonFields& fields, const char* key) {
  return static_cast<float>(fields.number(key));
}

}  // namespace

void TransformerConfig::check() const {
  base::check_range("source_vocab_size", static_cast<double>(source_vocab_size), 4, 1 << 24);
  base::check_range("target_vocab_size", static_cast<double>(target_vocab_size), 4, 1 << 24);
  base::check_range("d_model", static_cast<double>(d_model), 1, 65536);
  base::check_range("d_ff", static_cast<double>(d_ff), 1, 262144);
  base::check_range("n_heads", n_heads, 1, 1024);
  base::check_range("encoder_layers", encoder_layers, 1, 512);
  base::check_range("decoder_layers", decoder_layers, 1, 512);
  base::check_range("decoder_d_ff", static_cast<double>(decoder_d_ff), 0, 262144);
  base::check_range("decoder_n_heads", decoder_n_heads, 0, 1024);
  base::check_range("max_positions", static_cast<double>(max_positions), 2, 1 << 20);
  base::check_range("dropout", dropout, 0.0, 0.95);
  base::check_range("attention_dropout", attention_dropout, 0.0, 0.95);
  base::check_range("activation_dropout", activation_dropout, 0.0, 0.95);
  base::check_range("source_word_dropout", source_word_dropout, 0.0, 0.95);
  base::check_range("target_word_dropout", target_word_dropout, 0.0, 0.95);
  base::check_range("layer_norm_epsilon", layer_norm_epsilon, 1e-12, 0.1);
  base::check_usage(d_model % n_heads == 0, "d_model is {}, must be a multiple of n_heads ({})", d_model, n_heads);
  base::check_usage(decoder_n_heads == 0 || d_model % decoder_n_heads == 0,
                    "d_model is {}, must be a multiple of decoder_n_heads ({})", d_model, decoder_n_heads);
  base::check_usage(positions != nn::PositionKind::kSinusoidal || d_model % 2 == 0,
                    "d_model is {}, must be even for sinusoidal positions", d_model);
  base::check_usage(tying != Tying::kAll || source_vocab_size == target_vocab_size,
                    "tying \"all\" needs one joint vocabulary, but the source has {} pieces and the target {}; use "
                    "tying \"target\" or a joint vocabulary",
                    source_vocab_size, target_vocab_size);
}

nn::LayerConfig TransformerConfig::encoder_layer() const {
  return {d_model,           d_ff, n_heads, norm_order, activation, dropout, attention_dropout, activation_dropout,
          layer_norm_epsilon};
}

nn::LayerConfig TransformerConfig::decoder_layer() const {
  nn::LayerConfig layer = encoder_layer();
  layer.d_ff = decoder_d_ff > 0 ? decoder_d_ff : d_ff;
  layer.n_heads = decoder_n_heads > 0 ? decoder_n_heads : n_heads;
  return layer;
}

TransformerConfig with_dropouts_of(TransformerConfig shape, const TransformerConfig& asked) {
  shape.dropout = asked.dropout;
  shape.attention_dropout = asked.attention_dropout;
  shape.activation_dropout = asked.activation_dropout;
  shape.source_word_dropout = asked.source_word_dropout;
  shape.target_word_dropout = asked.target_word_dropout;
  return shape;
}

std::string to_json(const TransformerConfig& config) {
  return base::dump_json(to_tree(config), 2) + "\n";
}

TransformerConfig transformer_config_from_json(std::string_view text, std::string_view file_name) try {
  json tree = base::parse_json(text, file_name);
  complete_keys(tree, std::string(file_name));
  const base::JsonFields fields(tree, std::string(file_name));
  base::check_data(fields.value("architecture") == TransformerConfig::kArchitecture,
                   "{}: architecture is {}, this program knows \"transformer\"", file_name,
                   base::dump_json(tree["architecture"]));
  TransformerConfig config;
  config.source_vocab_size = fields.integer<int64_t>("source_vocab_size");
  config.target_vocab_size = fields.integer<int64_t>("target_vocab_size");
  config.d_model = fields.integer<int64_t>("d_model");
  config.d_ff = fields.integer<int64_t>("d_ff");
  config.n_heads = fields.integer<int>("n_heads");
  config.encoder_layers = fields.integer<int>("encoder_layers");
  config.decoder_layers = fields.integer<int>("decoder_layers");
  config.decoder_d_ff = fields.integer<int64_t>("decoder_d_ff");
  config.decoder_n_heads = fields.integer<int>("decoder_n_heads");
  config.norm_order = norm_order_from(fields.text("norm_order"));
  config.activation = activation_from(fields.text("activation"));
  config.positions = position_kind_from(fields.text("positions"));
  config.max_positions = fields.integer<int64_t>("max_positions");
  config.tying = tying_from(fields.text("tying"));
  config.output_bias = fields.flag("output_bias");
  config.dropout = number(fields, "dropout");
  config.attention_dropout = number(fields, "attention_dropout");
  config.activation_dropout = number(fields, "activation_dropout");
  config.source_word_dropout = number(fields, "source_word_dropout");
  config.target_word_dropout = number(fields, "target_word_dropout");
  config.layer_norm_epsilon = number(fields, "layer_norm_epsilon");
  config.check();
  return config;
} catch (const base::Error& error) {
  if (error.kind() == base::ErrorKind::kBadData) {
    throw;
  }
  base::fail(base::ErrorKind::kBadData, "{}: {}", file_name, error.what());
}

std::string_view name_of(nn::NormOrder order) {
  return find_name(kNormOrders, order);
}
std::string_view name_of(kernels::Activation activation) {
  return find_name(kActivations, activation);
}
std::string_view name_of(nn::PositionKind kind) {
  return find_name(kPositionKinds, kind);
}
std::string_view name_of(Tying tying) {
  return find_name(kTyings, tying);
}
nn::NormOrder norm_order_from(std::string_view name) {
  return find_value(kNormOrders, "norm_order", name);
}
kernels::Activation activation_from(std::string_view name) {
  return find_value(kActivations, "activation", name);
}
nn::PositionKind position_kind_from(std::string_view name) {
  return find_value(kPositionKinds, "positions", name);
}
Tying tying_from(std::string_view name) {
  return find_value(kTyings, "tying", name);
}

}  // namespace dragoman::models
