#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json.h"
#include "interop/hf_fields.h"
#include "interop/hf_t5.h"

namespace dragoman::interop {
namespace {

using base::check_data;
using models::TransformerConfig;

// Relative positions end nowhere; this many tokens are what one text may have here.
constexpr int64_t kLeastPositions = 1024;

constexpr std::string_view kGated = "gated-";

void read_t5_feed_forward(HfFields& fields, TransformerConfig& model) {
  const std::string name = fields.text("feed_forward_proj", "relu");
  const bool is_gated = name.starts_with(kGated);
  const std::string activation = is_gated ? name.substr(kGated.size()) : name;
  const std::string function = name == "gated-gelu" ? "gelu_new" : activation;  // a name that older files use
  model.activation = activation_named(function, fields.file(), "feed_forward_proj");
  model.layer.feed_forward = is_gated ? nn::FeedForwardKind::kGated : nn::FeedForwardKind::kPlain;
  const std::string other = fields.text("dense_act_fn", function);
  check_data(other == function, "{}: dense_act_fn is \"{}\", feed_forward_proj is \"{}\"; they must agree",
             fields.file(), other, name);
  check_data(fields.flag("is_gated_act", is_gated) == is_gated,
             "{}: is_gated_act is {}, feed_forward_proj is \"{}\"; they must agree", fields.file(), !is_gated, name);
}

void read_t5_sizes(HfFields& fields, TransformerConfig& model) {
  model.source_vocab_size = model.target_vocab_size = fields.integer("vocab_size", 4, kMaxVocabulary);
  model.d_model = fields.integer("d_model", 1, kMaxWidth);
  model.layer.d_head = fields.integer("d_kv", 1, kMaxWidth);
  model.d_ff = fields.integer("d_ff", 1, 4 * kMaxWidth);
  model.n_heads = static_cast<int>(fields.integer("num_heads", 1, kMaxHeads));
  model.encoder_layers = static_cast<int>(fields.integer("num_layers", 1, 512));
  model.decoder_layers = static_cast<int>(fields.integer("num_decoder_layers", 1, 512, model.encoder_layers));
  model.layer.relative_buckets = fields.integer("relative_attention_num_buckets", 4, 4096, 32);
  model.layer.relative_distance = fields.integer("relative_attention_max_distance", 3, kMaxPositions, 128);
  model.max_positions = std::max(kLeastPositions, fields.integer("n_positions", 2, kMaxPositions, kLeastPositions));
  model.layer_norm_epsilon = static_cast<float>(fields.number("layer_norm_epsilon", 1e-12, 0.1, 1e-6));
  model.dropout = static_cast<float>(fields.number("dropout_rate", 0.0, 0.95, 0.1));
  model.attention_dropout = model.activation_dropout = model.dropout;
}

void set_t5_options(TransformerConfig& model) {
  model.norm_order = nn::NormOrder::kPre;
  model.positions = nn::PositionKind::kRelative;
  model.output_bias = true;  // for our <s> alone, a second id of the first input of the decoder
  model.layer.norm = kernels::NormKind::kRms;
  model.layer.biases = nn::Biases::kNone;
  model.layer.scale_embedding = false;
  model.layer.scale_attention = false;
  model.layer.initial_weights = nn::InitialWeights::kT5;
}

int64_t only_id(HfFields& fields, const char* key, int64_t otherwise, int64_t vocab_size) {
  return fields.integer(key, 0, vocab_size - 1, otherwise);
}

}  // namespace

HfT5Config t5_config_from_json(std::string_view text, const std::string& file_name) {
  const nlohmann::json tree = base::parse_json(text, file_name);
  HfFields fields(tree, file_name);
  const std::string type = fields.text("model_type", "");
  check_data(type == "t5" || type == "mt5", "{}: model_type is \"{}\", must be t5 or mt5", file_name, type);
  HfT5Config config;
  TransformerConfig& model = config.model;
  read_t5_sizes(fields, model);
  set_t5_options(model);
  read_t5_feed_forward(fields, model);
  // The key has been a sign of v1.1, whose logits have no factor; newer files say so by a key of its own.
  const bool is_scaled = fields.flag("tie_word_embeddings", true);
  model.scale_output = fields.flag("scale_decoder_outputs", is_scaled);
  config.pad_id = only_id(fields, "pad_token_id", 0, model.source_vocab_size);
  config.eos_id = only_id(fields, "eos_token_id", 1, model.source_vocab_size);
  config.start_id = only_id(fields, "decoder_start_token_id", config.pad_id, model.source_vocab_size);
  fields.must_be("is_encoder_decoder", true);
  fields.must_be("is_decoder", false);
  for (const char* key : {"initializer_factor", "classifier_dropout", "tokenizer_class", "bos_token_id"}) {
    static_cast<void>(fields.has(key));  // of training, or of what is not read
  }
  fields.refuse_unknown();
  try {
    model.check();
  } catch (const base::Error& error) {
    base::fail(base::ErrorKind::kBadData, "{}: {}", file_name, error.what());
  }
  return config;
}

}  // namespace dragoman::interop
