#include "interop/marian_config.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json.h"

namespace dragoman::interop {
namespace {

using base::check_data;
using nlohmann::json;

constexpr int64_t kMaxVocabulary = 1'000'000;
constexpr int64_t kMaxPositions = 65'536;

// The keys of one JSON object, each read with its type and range. null counts as missing, as in transformers.
class Keys {
 public:
  Keys(std::string_view text, const std::string& file_name)
      : tree_(base::parse_json(text, file_name)), file_name_(file_name) {
    check_data(tree_.is_object(), "{}: must be a JSON object", file_name_);
  }

  bool has(const char* key) const { return tree_.contains(key) && !tree_[key].is_null(); }

  int64_t integer(const char* key, int64_t low, int64_t high) const {
    check_data(has(key), "{}: key \"{}\" is missing; is this the folder of a MarianMT model?", file_name_, key);
    const json& value = tree_[key];
    check_data(value.is_number_integer() && value >= json(low) && value <= json(high),
               "{}: {} is {}, must be an integer from {} to {}", file_name_, key, base::dump_json(value), low, high);
    return value.get<int64_t>();
  }

  double number(const char* key, double otherwise) const {
    if (!has(key)) {
      return otherwise;
    }
    check_data(tree_[key].is_number(), "{}: {} is {}, must be a number", file_name_, key, base::dump_json(tree_[key]));
    return tree_[key].get<double>();
  }

  bool flag(const char* key, bool otherwise) const {
    if (!has(key)) {
      return otherwise;
    }
    check_data(tree_[key].is_boolean(), "{}: {} is {}, must be true or false", file_name_, key,
               base::dump_json(tree_[key]));
    return tree_[key].get<bool>();
  }

  std::string text(const char* key) const {
    check_data(has(key) && tree_[key].is_string(), "{}: {} is {}, must be a string", file_name_, key,
               has(key) ? base::dump_json(tree_[key]) : "missing");
    return tree_[key].get<std::string>();
  }

  // For keys that change the model and have a single supported value.
  void require_flag(const char* key, bool wanted) const {
    check_data(flag(key, wanted) == wanted, "{}: {} is {}, dragoman imports models with {} only", file_name_, key,
               !wanted, wanted);
  }

 private:
  json tree_;
  const std::string& file_name_;
};

kernels::Activation activation_of(const Keys& keys, const std::string& file_name) {
  const std::string name = keys.text("activation_function");
  check_data(name == "relu" || name == "gelu" || name == "swish" || name == "silu",
             "{}: activation_function is \"{}\", dragoman has relu, gelu, swish (also called silu)", file_name, name);
  return name == "relu"   ? kernels::Activation::kRelu
         : name == "gelu" ? kernels::Activation::kGelu
                          : kernels::Activation::kSilu;
}

void check_supported(const Keys& keys, const std::string& file_name) {
  const std::string type = keys.text("model_type");
  check_data(type == "marian", "{}: model_type is \"{}\", must be \"marian\"; other models cannot be imported",
             file_name, type);
  keys.require_flag("normalize_before", false);
  keys.require_flag("normalize_embedding", false);
  keys.require_flag("layernorm_embedding", false);
  keys.require_flag("add_final_layer_norm", false);
  keys.require_flag("static_position_embeddings", true);
}

models::TransformerConfig read_shape(const Keys& keys, const std::string& file_name) {
  models::TransformerConfig model;
  model.d_model = keys.integer("d_model", 2, 65'536);
  model.encoder_layers = static_cast<int>(keys.integer("encoder_layers", 1, 512));
  model.decoder_layers = static_cast<int>(keys.integer("decoder_layers", 1, 512));
  model.n_heads = static_cast<int>(keys.integer("encoder_attention_heads", 1, 1024));
  model.decoder_n_heads = static_cast<int>(keys.integer("decoder_attention_heads", 1, 1024));
  model.d_ff = keys.integer("encoder_ffn_dim", 1, 262'144);
  model.decoder_d_ff = keys.integer("decoder_ffn_dim", 1, 262'144);
  model.max_positions = keys.integer("max_position_embeddings", 2, kMaxPositions);
  model.activation = activation_of(keys, file_name);
  model.norm_order = nn::NormOrder::kPost;
  model.positions = nn::PositionKind::kSinusoidal;
  model.output_bias = true;
  model.layer_norm_epsilon = 1e-5F;  // transformers has no key for it
  model.dropout = static_cast<float>(keys.number("dropout", 0.1));
  model.attention_dropout = static_cast<float>(keys.number("attention_dropout", 0.0));
  model.activation_dropout = static_cast<float>(keys.number("activation_dropout", 0.0));
  model.source_vocab_size = keys.integer("vocab_size", 4, kMaxVocabulary);
  model.target_vocab_size =
      keys.has("decoder_vocab_size") ? keys.integer("decoder_vocab_size", 4, kMaxVocabulary) : model.source_vocab_size;
  // In our configuration equal numbers are written as "as in the encoder".
  model.decoder_n_heads = model.decoder_n_heads == model.n_heads ? 0 : model.decoder_n_heads;
  model.decoder_d_ff = model.decoder_d_ff == model.d_ff ? 0 : model.decoder_d_ff;
  return model;
}

}  // namespace

MarianConfig marian_config_from_json(std::string_view text, const std::string& file_name) try {
  const Keys keys(text, file_name);
  check_supported(keys, file_name);
  MarianConfig config;
  config.model = read_shape(keys, file_name);
  config.scale_embedding = keys.flag("scale_embedding", false);
  config.share_embeddings = keys.flag("share_encoder_decoder_embeddings", true);
  config.tie_output = keys.flag("tie_word_embeddings", true);
  const int64_t last_id = config.model.target_vocab_size - 1;
  config.pad_id = static_cast<int32_t>(keys.integer("pad_token_id", 0, last_id));
  config.eos_id = static_cast<int32_t>(keys.integer("eos_token_id", 0, last_id));
  config.start_id = static_cast<int32_t>(keys.integer("decoder_start_token_id", 0, last_id));
  check_data(!config.share_embeddings || config.model.source_vocab_size == config.model.target_vocab_size,
             "{}: share_encoder_decoder_embeddings is true, but vocab_size is {} and decoder_vocab_size {}", file_name,
             config.model.source_vocab_size, config.model.target_vocab_size);
  models::TransformerConfig checked = config.model;
  checked.tying = models::Tying::kNone;
  checked.check();
  return config;
} catch (const base::Error& error) {
  if (error.kind() == base::ErrorKind::kBadData) {
    throw;
  }
  base::fail(base::ErrorKind::kBadData, "{}: {}", file_name, error.what());
}

MarianSearch marian_search_from_json(std::string_view text, const std::string& file_name) {
  const Keys keys(text, file_name);
  return {static_cast<int>(keys.has("num_beams") ? keys.integer("num_beams", 1, 1 << 20) : 1),
          keys.number("length_penalty", 1.0)};
}

std::string_view marian_name_of(kernels::Activation activation) {
  return activation == kernels::Activation::kSilu ? "swish" : models::name_of(activation);
}

}  // namespace dragoman::interop
