#include "models/transformer/transformer_config.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/error.h"
#include "base/json.h"

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

// Fills in what older files lack, then checks that every key is there and known.
void complete_keys(json& tree, std::string_view file_name) {
  const json known = to_tree({});
  for (const char* added_later :
       {"source_word_dropout", "target_word_dropout", "decoder_d_ff", "decoder_n_heads", "output_bias"}) {
    tree.emplace(added_later, known[added_later]);
  }
  std::vector<std::string> names;
  for (const auto& [key, value] : known.items()) {
    names.push_back(key);
  }
  for (const auto& [key, value] : tree.items()) {
    base::check_data(known.contains(key), "{}: unknown key \"{}\"; did you mean \"{}\"?", file_name, key,
                     nearest_name(key, names));
  }
  for (const std::string& name : names) {
    base::check_data(tree.contains(name), "{}: key \"{}\" is missing", file_name, name);
  }
}

template <typename Integer>
Integer integer(const json& tree, const char* key, std::string_view file_name) {
  const json& value = tree[key];
  base::check_data(value.is_number_integer() && value <= json(int64_t{1} << 31) && value >= json(-1),
                   "{}: {} must be an integer, is {}", file_name, key, base::dump_json(value));
  return value.get<Integer>();
}

float number(const json& tree, const char* key, std::string_view file_name) {
  base::check_data(tree[key].is_number(), "{}: {} must be a number, is {}", file_name, key, base::dump_json(tree[key]));
  return tree[key].get<float>();
}

bool truth(const json& tree, const char* key, std::string_view file_name) {
  base::check_data(tree[key].is_boolean(), "{}: {} must be true or false, is {}", file_name, key,
                   base::dump_json(tree[key]));
  return tree[key].get<bool>();
}

std::string text_value(const json& tree, const char* key, std::string_view file_name) {
  base::check_data(tree[key].is_string(), "{}: {} must be a string, is {}", file_name, key, base::dump_json(tree[key]));
  return tree[key].get<std::string>();
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
  base::check_data(tree.is_object(), "{}: must be a JSON object", file_name);
  complete_keys(tree, file_name);
  base::check_data(tree["architecture"] == TransformerConfig::kArchitecture, "{}: architecture is {}, this program knows \"transformer\"",
                   file_name, base::dump_json(tree["architecture"]));
  TransformerConfig config;
  config.source_vocab_size = integer<int64_t>(tree, "source_vocab_size", file_name);
  config.target_vocab_size = integer<int64_t>(tree, "target_vocab_size", file_name);
  config.d_model = integer<int64_t>(tree, "d_model", file_name);
  config.d_ff = integer<int64_t>(tree, "d_ff", file_name);
  config.n_heads = integer<int>(tree, "n_heads", file_name);
  config.encoder_layers = integer<int>(tree, "encoder_layers", file_name);
  config.decoder_layers = integer<int>(tree, "decoder_layers", file_name);
  config.decoder_d_ff = integer<int64_t>(tree, "decoder_d_ff", file_name);
  config.decoder_n_heads = integer<int>(tree, "decoder_n_heads", file_name);
  config.norm_order = norm_order_from(text_value(tree, "norm_order", file_name));
  config.activation = activation_from(text_value(tree, "activation", file_name));
  config.positions = position_kind_from(text_value(tree, "positions", file_name));
  config.max_positions = integer<int64_t>(tree, "max_positions", file_name);
  config.tying = tying_from(text_value(tree, "tying", file_name));
  config.output_bias = truth(tree, "output_bias", file_name);
  config.dropout = number(tree, "dropout", file_name);
  config.attention_dropout = number(tree, "attention_dropout", file_name);
  config.activation_dropout = number(tree, "activation_dropout", file_name);
  config.source_word_dropout = number(tree, "source_word_dropout", file_name);
  config.target_word_dropout = number(tree, "target_word_dropout", file_name);
  config.layer_norm_epsilon = number(tree, "layer_norm_epsilon", file_name);
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

std::string nearest_name(std::string_view name, const std::vector<std::string>& known) {
  const auto distance = [&](const std::string& other) {
    std::vector<size_t> row(other.size() + 1);
    std::iota(row.begin(), row.end(), size_t{0});
    for (size_t i = 0; i < name.size(); ++i) {
      size_t diagonal = std::exchange(row[0], i + 1);
      for (size_t j = 0; j < other.size(); ++j) {
        const size_t replaced = diagonal + (name[i] == other[j] ? 0 : 1);
        diagonal = row[j + 1];
        row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
      }
    }
    return row.back();
  };
  return known.empty() ? "" : *std::ranges::min_element(known, {}, distance);
}

}  // namespace dragoman::models
