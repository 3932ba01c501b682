#include "interop/hf_export.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json.h"
#include "data/vocabulary/tokenizer_json.h"
#include "data/vocabulary/vocabulary.h"
#include "interop/hf_fields.h"
#include "interop/hf_tensors.h"
#include "interop/hf_tokenizer.h"
#include "interop/model_source.h"
#include "interop/requirements.h"
#include "models/architectures/architectures.h"
#include "models/model.h"
#include "models/model_tensors.h"
#include "ops/embedding.h"
#include "tensor/transfer.h"

namespace dragoman::interop {
namespace {

namespace fs = std::filesystem;
using models::DecoderOnlyConfig;
using nlohmann::json;
using tensor::Tensor;

void check_gpt2(const PlainLanguageModel& model) {
  const DecoderOnlyConfig& config = model.config;
  const nn::LayerOptions& layer = config.layer;
  const Requirements gpt2(model.config_name, "GPT-2");
  gpt2.require(config.norm_order == nn::NormOrder::kPre, "norm_order", base::name_of(config.norm_order), "pre");
  gpt2.require(layer.norm == kernels::NormKind::kLayer, "norm", base::name_of(layer.norm), "layer");
  gpt2.require(config.positions == nn::PositionKind::kLearned, "positions", base::name_of(config.positions),
               "learned, sinusoidal and none");
  gpt2.require(layer.feed_forward == nn::FeedForwardKind::kPlain, "feed_forward", base::name_of(layer.feed_forward),
               "plain");
  gpt2.require(config.layer_config().kv_heads() == config.n_heads, "n_kv_heads", layer.n_kv_heads, "that of n_heads");
  gpt2.require(config.layer_config().head_width() * config.n_heads == config.d_model, "d_head", layer.d_head,
               "d_model / n_heads");
  gpt2.require(layer.d_key == 0, "d_key", layer.d_key, "0");
  gpt2.require(layer.scale_attention, "scale_attention", layer.scale_attention, "true");
  gpt2.require(!layer.qk_norm, "qk_norm", layer.qk_norm, "false");
  gpt2.require(layer.window == 0 || layer.window >= config.max_positions, "window", layer.window, "0");
}

// Whether text is cut as by Qwen2Tokenizer, with which transformers loads each Qwen2 folder.
bool has_qwen2_split(const data::Vocabulary& vocabulary) {
  const data::TokenizerSpec spec = data::read_tokenizer_json(vocabulary.bytes(), models::kTokenizerName);
  return !spec.splits.empty() && spec.splits.front().kind == data::SplitStep::Kind::kPattern &&
         spec.splits.front().pattern == data::BpeSplit::kQwen2;
}

bool has_window(const DecoderOnlyConfig& config) {
  return config.layer.window > 0 && config.layer.window < config.max_positions;
}

// A Llama with biases has one after attention too, which may be zero.
HfLayout llama_layout(const DecoderOnlyConfig& config, const data::Vocabulary& vocabulary) {
  const nn::LayerOptions& layer = config.layer;
  if (layer.qk_norm) {
    return HfLayout::kQwen3;
  }
  if (layer.biases == nn::Biases::kAttentionInput && (has_window(config) || has_qwen2_split(vocabulary))) {
    return HfLayout::kQwen2;
  }
  return has_window(config) ? HfLayout::kMistral : HfLayout::kLlama;
}

void check_llama(const PlainLanguageModel& model) {
  const DecoderOnlyConfig& config = model.config;
  const nn::LayerOptions& layer = config.layer;
  const Requirements llama(model.config_name, "Llama");
  llama.require(config.norm_order == nn::NormOrder::kPre, "norm_order", base::name_of(config.norm_order), "pre");
  llama.require(layer.norm == kernels::NormKind::kRms, "norm", base::name_of(layer.norm), "rms");
  llama.require(config.positions == nn::PositionKind::kRotary, "positions", base::name_of(config.positions), "rope");
  llama.require(layer.d_key == 0, "d_key", layer.d_key, "0");
  llama.require(layer.scale_attention, "scale_attention", layer.scale_attention, "true");
  llama.require(layer.feed_forward == nn::FeedForwardKind::kGated, "feed_forward", base::name_of(layer.feed_forward),
                "gated");
}

// The biases that a layout has, as far as the model needs them.
HfBiases biases_of(HfLayout layout, const DecoderOnlyConfig& config) {
  const bool all = config.layer.biases == nn::Biases::kAll, input = config.layer.biases != nn::Biases::kNone;
  switch (layout) {
    case HfLayout::kGpt2:
      return {true, true, true, true};
    case HfLayout::kLlama:
      return {input, input, all, false};
    case HfLayout::kMistral:
      return {};
    case HfLayout::kQwen2:
      return {.attention_input = true};
    case HfLayout::kQwen3:
      return {input, input, false, false};
  }
  return {};
}

data::Vocabulary vocabulary_of(const models::ModelFiles& model, const fs::path& folder) {
  const auto found = model.vocabularies.find(models::kTokenizerName);
  base::check_data(found != model.vocabularies.end(),
                   "{}: the vocabulary is a SentencePiece model, tokenizer.json cannot be made of it; train with a "
                   "vocabulary of characters or of byte-level BPE to export the model",
                   folder.string());
  return data::Vocabulary::from_bytes(found->second, (folder / models::kTokenizerName).string());
}

void add_ids(const data::SpecialIds& special, json& tree) {
  const auto id = [](int32_t value) { return value < 0 ? json() : json(value); };
  tree["bos_token_id"] = id(special.bos);
  tree["pad_token_id"] = id(special.pad);
  tree["eos_token_id"] = special.eos.empty()       ? json()
                         : special.eos.size() == 1 ? json(special.eos.front())
                                                   : json(special.eos);
}

json gpt2_config(const DecoderOnlyConfig& config) {
  return {{"architectures", {"GPT2LMHeadModel"}},
          {"model_type", base::name_of(HfLayout::kGpt2)},
          {"vocab_size", config.vocab_size},
          {"n_positions", config.max_positions},
          {"n_embd", config.d_model},
          {"n_layer", config.layers},
          {"n_head", config.n_heads},
          {"n_inner", config.d_ff},
          {"activation_function", hf_name_of(config.activation)},
          {"layer_norm_epsilon", base::decimal(config.layer_norm_epsilon)},
          {"resid_pdrop", base::decimal(config.dropout)},
          {"embd_pdrop", base::decimal(config.dropout)},
          {"attn_pdrop", base::decimal(config.attention_dropout)},
          {"scale_attn_weights", true},
          {"tie_word_embeddings", config.tied_output}};
}

// As transformers 4 writes it, which transformers 5 reads too.
json rope_scaling(const nn::LayerOptions& layer) {
  switch (layer.rope_scaling) {
    case kernels::RotationScaling::kNone:
      return nullptr;
    case kernels::RotationScaling::kLinear:
      return {{"rope_type", "linear"}, {"factor", layer.rope_factor}};
    case kernels::RotationScaling::kLlama3:
      return {{"rope_type", "llama3"},
              {"factor", layer.rope_factor},
              {"low_freq_factor", layer.rope_low_frequency},
              {"high_freq_factor", layer.rope_high_frequency},
              {"original_max_position_embeddings", layer.rope_trained_length}};
  }
  return nullptr;
}

const char* class_of(HfLayout layout) {
  return layout == HfLayout::kLlama     ? "LlamaForCausalLM"
         : layout == HfLayout::kMistral ? "MistralForCausalLM"
         : layout == HfLayout::kQwen2   ? "Qwen2ForCausalLM"
                                        : "Qwen3ForCausalLM";
}

json llama_config(const HfLanguageConfig& hf) {
  const DecoderOnlyConfig& config = hf.model;
  const nn::LayerConfig layer = config.layer_config();
  const bool slides = has_window(config);
  json tree = {{"architectures", {class_of(hf.layout)}},
               {"model_type", base::name_of(hf.layout)},
               {"vocab_size", config.vocab_size},
               {"hidden_size", config.d_model},
               {"intermediate_size", config.d_ff},
               {"num_hidden_layers", config.layers},
               {"num_attention_heads", config.n_heads},
               {"num_key_value_heads", layer.kv_heads()},
               {"head_dim", layer.head_width()},
               {"hidden_act", hf_name_of(config.activation)},
               {"max_position_embeddings", config.max_positions},
               {"rms_norm_eps", base::decimal(config.layer_norm_epsilon)},
               {"rope_theta", layer.options.rope_theta},
               {"rope_scaling", rope_scaling(layer.options)},
               {"attention_dropout", base::decimal(config.attention_dropout)},
               {"tie_word_embeddings", config.tied_output}};
  if (hf.layout == HfLayout::kLlama) {
    tree["mlp_bias"] = hf.biases.feed_forward;
  }
  if (hf.layout == HfLayout::kLlama || hf.layout == HfLayout::kQwen3) {
    tree["attention_bias"] = hf.biases.attention_input;
  }
  if (hf.layout != HfLayout::kLlama) {
    tree["sliding_window"] = slides ? json(layer.options.window) : json();
  }
  if (hf.layout == HfLayout::kQwen2 || hf.layout == HfLayout::kQwen3) {
    tree["use_sliding_window"] = slides;
    tree["max_window_layers"] = slides ? 0 : config.layers;
    tree["layer_types"] =
        std::vector<std::string>(static_cast<size_t>(config.layers), slides ? "sliding_attention" : "full_attention");
  }
  return tree;
}

ExportedModel export_plain(const PlainLanguageModel& model, HfLayout layout, const data::Vocabulary& vocabulary,
                           const std::string& chat) {
  const std::string_view activation = hf_name_of(model.config.activation);
  base::check_data(!activation.empty(), "{}: activation is {}, which transformers does not have", model.config_name,
                   base::name_of(model.config.activation));
  HfLanguageConfig hf{layout, model.config, biases_of(layout, model.config), {}};
  json config = layout == HfLayout::kGpt2 ? gpt2_config(hf.model) : llama_config(hf);
  config["dtype"] = config["torch_dtype"] = "float32";
  add_ids(vocabulary.special(), config);
  json generation = json::object();
  add_ids(vocabulary.special(), generation);
  ExportedModel exported;
  exported.tensors = export_hf_tensors(model.tensors, hf, model.weights_name);
  exported.texts = {{kHfConfigName, base::dump_json(config, 2) + "\n"},
                    {kHfGenerationName, base::dump_json(generation, 2) + "\n"},
                    {kHfTokenizerName, vocabulary.bytes()},
                    {kHfTokenizerConfigName, hf_tokenizer_config_json(vocabulary, model.config.max_positions, chat)}};
  return exported;
}

}  // namespace

PlainLanguageModel plain_language_model(const models::ModelFiles& model, const fs::path& folder) {
  PlainLanguageModel plain;
  plain.config_name = (folder / models::kConfigName).string();
  plain.weights_name = (folder / models::kWeightsName).string();
  const models::ModelConfig config = models::config_from_json(model.config, plain.config_name);
  const auto* const found = config.get_if<DecoderOnlyConfig>();
  base::check_data(found != nullptr, "{}: architecture is {}, must be {} for this format", plain.config_name,
                   config.architecture(), DecoderOnlyConfig::kArchitecture);
  models::check_tensors(models::make_model(config)->parameters(), model.tensors, plain.weights_name);
  plain.config = *found;
  plain.tensors = model.tensors;
  if (plain.config.layer.scale_embedding) {
    Tensor& table = plain.tensors.at("embedding.weight");
    if (plain.config.tied_output) {
      plain.tensors["output.weight"] = table;
      plain.config.tied_output = false;
    }
    table = scaled(table, std::sqrt(static_cast<float>(plain.config.d_model)));
    plain.config.layer.scale_embedding = false;
  }
  return plain;
}

PlainLanguageModel with_position_rows(PlainLanguageModel model) {
  DecoderOnlyConfig& config = model.config;
  if (config.positions == nn::PositionKind::kSinusoidal) {
    model.tensors["embedding.positions"] = ops::sinusoidal_positions(config.max_positions, config.d_model);
  } else if (config.positions == nn::PositionKind::kNone) {
    model.tensors["embedding.positions"] = Tensor::zeros({config.max_positions, config.d_model});
  } else {
    return model;
  }
  config.positions = nn::PositionKind::kLearned;
  return model;
}

ExportedModel export_gpt2(const models::ModelFiles& model, const fs::path& folder) {
  const PlainLanguageModel plain = with_position_rows(plain_language_model(model, folder));
  check_gpt2(plain);
  return export_plain(plain, HfLayout::kGpt2, vocabulary_of(model, folder), model.chat);
}

ExportedModel export_llama(const models::ModelFiles& model, const fs::path& folder) {
  const PlainLanguageModel plain = plain_language_model(model, folder);
  check_llama(plain);
  const data::Vocabulary vocabulary = vocabulary_of(model, folder);
  const HfLayout layout = llama_layout(plain.config, vocabulary);
  ExportedModel exported = export_plain(plain, layout, vocabulary, model.chat);
  if (layout == HfLayout::kQwen2 && !has_qwen2_split(vocabulary)) {
    exported.notes.emplace_back(
        "AutoTokenizer of transformers cuts the text of every Qwen2 as Qwen2 does; load tokenizer.json with "
        "PreTrainedTokenizerFast");
  }
  return exported;
}

}  // namespace dragoman::interop
