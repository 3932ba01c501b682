#include "interop/hf_config.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json.h"
#include "interop/hf_fields.h"

namespace dragoman::interop {
namespace {

using base::check_data;
using models::DecoderOnlyConfig;
using nlohmann::json;

constexpr int64_t kMaxHeadWidth = 1024;
constexpr int64_t kMaxRotations = 1 << 28;  // positions * head width, of which there is a table

// The layout of a folder. @param is_gpt2  which command asks
HfLayout read_layout(HfFields& fields, bool is_gpt2) {
  const std::string type = fields.text("model_type", "");
  const auto table = names_of(HfLayout());
  const auto* const found = std::find_if(table.begin(), table.end(), [&](const auto& row) { return row.name == type; });
  const bool fits = found != table.end() && (found->value == HfLayout::kGpt2) == is_gpt2;
  check_data(fits, "{}: model_type is \"{}\", must be {}", fields.file(), type,
             is_gpt2 ? "gpt2" : "llama, mistral, qwen2 or qwen3");
  return found->value;
}

float read_dropout(HfFields& fields, const char* key, double otherwise) {
  return static_cast<float>(fields.number(key, 0.0, 0.95, otherwise));
}

// What both families write.
void finish(HfFields& fields, HfLanguageConfig& config) {
  config.ids = read_token_ids(fields);
  for (const char* key : {"is_encoder_decoder", "add_cross_attention", "tie_encoder_decoder", "use_mrope"}) {
    fields.must_be(key, false);
  }
  static_cast<void>(fields.flag("is_decoder", true));  // attention is causal whatever it says
  fields.refuse_unknown();
  config.model.check();
}

HfLanguageConfig read_gpt2(HfFields& fields) {
  HfLanguageConfig config;
  config.layout = read_layout(fields, true);
  DecoderOnlyConfig& model = config.model;
  model.vocab_size = fields.integer("vocab_size", 1, kMaxVocabulary);
  model.d_model = fields.integer("n_embd", 1, kMaxWidth);
  model.layers = static_cast<int>(fields.integer("n_layer", 1, 512));
  model.n_heads = static_cast<int>(fields.integer("n_head", 1, kMaxHeads));
  model.d_ff = fields.integer("n_inner", 1, 4 * kMaxWidth, 4 * model.d_model);
  model.max_positions = fields.integer("n_positions", 2, kMaxPositions);
  model.activation = read_activation(fields, "activation_function", "gelu_new");
  model.layer_norm_epsilon = static_cast<float>(fields.number("layer_norm_epsilon", 1e-12, 0.1, 1e-5));
  model.tied_output = fields.flag("tie_word_embeddings", true);
  model.dropout = read_dropout(fields, "resid_pdrop", 0.1);
  model.attention_dropout = read_dropout(fields, "attn_pdrop", 0.1);
  static_cast<void>(fields.has("embd_pdrop"));  // here embeddings have the dropout of the layers
  fields.must_be("scale_attn_weights", true);
  fields.must_be("scale_attn_by_inverse_layer_idx", false);
  fields.must_be("reorder_and_upcast_attn", false);
  config.biases = {true, true, true, true};
  finish(fields, config);
  return config;
}

void read_heads(HfFields& fields, HfLayout layout, DecoderOnlyConfig& model) {
  constexpr int64_t kQwen3HeadWidth = 128;
  model.n_heads = static_cast<int>(fields.integer("num_attention_heads", 1, kMaxHeads));
  check_data(layout == HfLayout::kLlama || fields.is_written("num_key_value_heads"),
             "{}: key \"num_key_value_heads\" is missing", fields.file());
  const auto key_heads = static_cast<int>(fields.integer("num_key_value_heads", 1, kMaxHeads, model.n_heads));
  check_data(model.n_heads % key_heads == 0,
             "{}: num_attention_heads is {}, must be a multiple of num_key_value_heads ({})", fields.file(),
             model.n_heads, key_heads);
  model.layer.n_kv_heads = key_heads == model.n_heads ? 0 : key_heads;
  const bool has_width = fields.has("head_dim") || layout == HfLayout::kQwen3;
  check_data(has_width || model.d_model % model.n_heads == 0,
             "{}: hidden_size is {}, must be a multiple of num_attention_heads ({})", fields.file(), model.d_model,
             model.n_heads);
  const int64_t plain = has_width ? kQwen3HeadWidth : model.d_model / model.n_heads;
  const int64_t width = fields.integer("head_dim", 2, kMaxHeadWidth, plain);
  check_data(width <= kMaxHeadWidth, "{}: heads are {} wide, at most {} are allowed", fields.file(), width,
             kMaxHeadWidth);
  model.layer.d_head = width * model.n_heads == model.d_model ? 0 : width;
  check_data(width * model.max_positions <= kMaxRotations,
             "{}: max_position_embeddings is {}, at most {} are allowed with heads of width {}", fields.file(),
             model.max_positions, kMaxRotations / width, width);
}

void read_biases(HfFields& fields, HfLanguageConfig& config) {
  const HfLayout layout = config.layout;
  const bool is_llama = layout == HfLayout::kLlama;
  const bool attention = (is_llama || layout == HfLayout::kQwen3) && fields.flag("attention_bias", false);
  config.biases.attention_input = attention || layout == HfLayout::kQwen2;
  config.biases.attention_output = attention;
  config.biases.feed_forward = is_llama && fields.flag("mlp_bias", false);
  const bool all = config.biases.attention_output || config.biases.feed_forward;
  config.model.layer.biases = all                             ? nn::Biases::kAll
                              : config.biases.attention_input ? nn::Biases::kAttentionInput
                                                              : nn::Biases::kNone;
}

// "layer_types" names the attention of each layer. Here all layers have one.
bool layers_have_windows(HfFields& fields, int layers, bool otherwise) {
  if (!fields.has("layer_types")) {
    return otherwise;
  }
  const json& types = fields.value("layer_types");
  const bool is_list = types.is_array() && types.size() == static_cast<size_t>(layers);
  const auto all_are = [&](const char* name) {
    return is_list && std::all_of(types.begin(), types.end(), [&](const json& type) { return type == json(name); });
  };
  const bool sliding = all_are("sliding_attention");
  check_data(sliding || all_are("full_attention"),
             "{}: layer_types is {}; dragoman has full_attention or sliding_attention in all {} layers", fields.file(),
             base::dump_json(types).substr(0, 200), layers);
  return sliding;
}

void read_window(HfFields& fields, HfLanguageConfig& config) {
  constexpr int64_t kMaxWindow = 1 << 24, kDefault = 4096;
  nn::LayerOptions& options = config.model.layer;
  if (config.layout == HfLayout::kMistral) {
    const int64_t otherwise = fields.is_written("sliding_window") ? 0 : kDefault;
    options.window = fields.integer("sliding_window", 1, kMaxWindow, otherwise);
    check_data(layers_have_windows(fields, config.model.layers, options.window > 0) == (options.window > 0),
               "{}: layer_types and sliding_window contradict each other", fields.file());
    return;
  }
  if (config.layout == HfLayout::kLlama) {
    return;  // sliding_window is a key that a Llama does not have
  }
  const bool uses = fields.flag("use_sliding_window", false);
  const int64_t window = fields.integer("sliding_window", 1, kMaxWindow, uses ? kDefault : 0);
  const int64_t first = fields.integer("max_window_layers", 0, 1 << 20, 28);
  const bool sliding = uses && window > 0;
  if (!fields.has("layer_types")) {
    check_data(!sliding || first == 0 || first >= config.model.layers,
               "{}: max_window_layers is {}; dragoman has a window in all {} layers or in none", fields.file(), first,
               config.model.layers);
  }
  options.window = layers_have_windows(fields, config.model.layers, sliding && first == 0) && sliding ? window : 0;
}

HfLanguageConfig read_llama(HfFields& fields) {
  HfLanguageConfig config;
  config.layout = read_layout(fields, false);
  DecoderOnlyConfig& model = config.model;
  model.vocab_size = fields.integer("vocab_size", 1, kMaxVocabulary);
  model.d_model = fields.integer("hidden_size", 1, kMaxWidth);
  model.d_ff = fields.integer("intermediate_size", 1, 4 * kMaxWidth);
  model.layers = static_cast<int>(fields.integer("num_hidden_layers", 1, 512));
  model.max_positions = fields.integer("max_position_embeddings", 2, kMaxPositions);
  model.activation = read_activation(fields, "hidden_act", "silu");
  model.layer_norm_epsilon = static_cast<float>(fields.number("rms_norm_eps", 1e-12, 0.1, 1e-6));
  model.tied_output = fields.flag("tie_word_embeddings", false);
  model.attention_dropout = read_dropout(fields, "attention_dropout", 0.0);
  model.positions = nn::PositionKind::kRotary;
  model.layer.norm = kernels::NormKind::kRms;
  model.layer.feed_forward = nn::FeedForwardKind::kGated;
  model.layer.qk_norm = config.layout == HfLayout::kQwen3;
  read_heads(fields, config.layout, model);
  read_biases(fields, config);
  read_window(fields, config);
  read_rotation(fields, model.max_positions, model.layer);
  finish(fields, config);
  return config;
}

HfLanguageConfig read(std::string_view text, const std::string& file_name,
                      HfLanguageConfig (*read_fields)(HfFields&)) try {
  const json tree = base::parse_json(text, file_name);
  HfFields fields(tree, file_name);
  return read_fields(fields);
} catch (const base::Error& error) {
  if (error.kind() == base::ErrorKind::kBadData) {
    throw;
  }
  base::fail(base::ErrorKind::kBadData, "{}: {}", file_name, error.what());
}

}  // namespace

HfLanguageConfig gpt2_config_from_json(std::string_view text, const std::string& file_name) {
  return read(text, file_name, read_gpt2);
}

HfLanguageConfig llama_config_from_json(std::string_view text, const std::string& file_name) {
  return read(text, file_name, read_llama);
}

HfTokenIds generation_ids_from_json(std::string_view text, const std::string& file_name) {
  const json tree = base::parse_json(text, file_name);
  HfFields fields(tree, file_name);
  return read_token_ids(fields);
}

}  // namespace dragoman::interop
