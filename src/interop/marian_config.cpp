#include "interop/marian_config.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json.h"
#include "base/json_fields.h"

namespace dragoman::interop {
namespace {

using base::check_data;
using base::JsonFields;
using nlohmann::json;

constexpr int64_t kMaxVocabulary = 1'000'000;
constexpr int64_t kMaxPositions = 65'536;

// Flags that change the model and of which dragoman has one value only. A missing flag has that value.
struct FixedFlag {
  const char* key;
  bool value;
};
constexpr FixedFlag kFixedFlags[] = {{"normalize_before", false},
                                     {"normalize_embedding", false},
                                     {"layernorm_embedding", false},
                                     {"add_final_layer_norm", false},
                                     {"static_position_embeddings", true}};

kernels::Activation activation_of(const JsonFields& fields, const std::string& file_name) {
  const std::string name = fields.text("activation_function");
  check_data(name == "relu" || name == "gelu" || name == "swish" || name == "silu",
             "{}: activation_function is \"{}\", dragoman has relu, gelu, swish (also called silu)", file_name, name);
  return name == "relu"   ? kernels::Activation::kRelu
         : name == "gelu" ? kernels::Activation::kGelu
                          : kernels::Activation::kSilu;
}

void check_supported(const JsonFields& fields, const std::string& file_name) {
  const std::string type = fields.text("model_type");
  check_data(type == "marian", "{}: model_type is \"{}\", must be \"marian\"; other models cannot be imported",
             file_name, type);
  for (const auto& [key, value] : kFixedFlags) {
    check_data(fields.flag(key, value) == value, "{}: {} is {}, dragoman imports models with {} only", file_name, key,
               !value, value);
  }
}

models::TransformerConfig read_shape(const JsonFields& fields, const std::string& file_name) {
  models::TransformerConfig model;
  model.d_model = fields.integer("d_model", 2, 65'536);
  model.encoder_layers = static_cast<int>(fields.integer("encoder_layers", 1, 512));
  model.decoder_layers = static_cast<int>(fields.integer("decoder_layers", 1, 512));
  model.n_heads = static_cast<int>(fields.integer("encoder_attention_heads", 1, 1024));
  model.decoder_n_heads = static_cast<int>(fields.integer("decoder_attention_heads", 1, 1024));
  model.d_ff = fields.integer("encoder_ffn_dim", 1, 262'144);
  model.decoder_d_ff = fields.integer("decoder_ffn_dim", 1, 262'144);
  model.max_positions = fields.integer("max_position_embeddings", 2, kMaxPositions);
  model.activation = activation_of(fields, file_name);
  model.norm_order = nn::NormOrder::kPost;
  model.positions = nn::PositionKind::kSinusoidal;
  model.output_bias = true;
  model.layer_norm_epsilon = 1e-5F;  // transformers has no key for it
  model.dropout = static_cast<float>(fields.number("dropout", 0.1));
  model.attention_dropout = static_cast<float>(fields.number("attention_dropout", 0.0));
  model.activation_dropout = static_cast<float>(fields.number("activation_dropout", 0.0));
  model.source_vocab_size = fields.integer("vocab_size", 4, kMaxVocabulary);
  model.target_vocab_size = fields.has("decoder_vocab_size") ? fields.integer("decoder_vocab_size", 4, kMaxVocabulary)
                                                             : model.source_vocab_size;
  // The same numbers stand for "as in the encoder" in files of this program.
  model.decoder_n_heads = model.decoder_n_heads == model.n_heads ? 0 : model.decoder_n_heads;
  model.decoder_d_ff = model.decoder_d_ff == model.d_ff ? 0 : model.decoder_d_ff;
  return model;
}

}  // namespace

MarianConfig marian_config_from_json(std::string_view text, const std::string& file_name) try {
  const json tree = base::parse_json(text, file_name);
  const JsonFields fields(tree, file_name);
  check_supported(fields, file_name);
  MarianConfig config;
  config.model = read_shape(fields, file_name);
  config.scale_embedding = fields.flag("scale_embedding", false);
  config.share_embeddings = fields.flag("share_encoder_decoder_embeddings", true);
  config.tie_output = fields.flag("tie_word_embeddings", true);
  const int64_t last_id = config.model.target_vocab_size - 1;
  config.pad_id = static_cast<int32_t>(fields.integer("pad_token_id", 0, last_id));
  config.eos_id = static_cast<int32_t>(fields.integer("eos_token_id", 0, last_id));
  config.start_id = static_cast<int32_t>(fields.integer("decoder_start_token_id", 0, last_id));
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
  const json tree = base::parse_json(text, file_name);
  const JsonFields fields(tree, file_name);
  return {static_cast<int>(fields.has("num_beams") ? fields.integer("num_beams", 1, 1 << 20) : 1),
          fields.number("length_penalty", 1.0)};
}

bool marian_has(kernels::Activation activation) {
  return activation == kernels::Activation::kRelu || activation == kernels::Activation::kGelu ||
         activation == kernels::Activation::kSilu;
}

std::string_view marian_name_of(kernels::Activation activation) {
  return activation == kernels::Activation::kSilu ? "swish" : models::name_of(activation);
}

}  // namespace dragoman::interop
