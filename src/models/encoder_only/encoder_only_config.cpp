#include "models/encoder_only/encoder_only_config.h"

#include "models/config_json.h"
#include "nn/rotation.h"

namespace dragoman::models {
namespace {

constexpr const char* kClassPooling = "class_pooling";

}  // namespace

void EncoderOnlyConfig::check() const {
  base::check_fields(*this);
  base::check_usage(layer.norm != kernels::NormKind::kBatch,
                    "norm is \"batch\", which is for the encoder of a translation model; must be one of layer, rms");
  const bool has_labels = head == EncoderHead::kClasses || head == EncoderHead::kTags;
  base::check_usage(layer.d_head > 0 || d_model % n_heads == 0, "d_model is {}, must be a multiple of n_heads ({})",
                    d_model, n_heads);
  base::check_usage(layer.n_kv_heads == 0 || n_heads % layer.n_kv_heads == 0,
                    "n_heads is {}, must be a multiple of n_kv_heads ({})", n_heads, layer.n_kv_heads);
  base::check_usage(positions != nn::PositionKind::kSinusoidal || d_model % 2 == 0,
                    "d_model is {}, must be even for sinusoidal positions", d_model);
  base::check_usage(
      positions != nn::PositionKind::kRelative,
      "positions is relative, which architecture encoder-only does not have; use rope, learned or sinusoidal");
  nn::check_key_width(layer_config(), positions);
  base::check_usage(has_labels == (n_labels > 0), "n_labels is {}, head is {}: labels belong to classes and tags",
                    n_labels, base::name_of(head));
  base::check_usage(head != EncoderHead::kClasses || class_pooling != Pooling::kPooler || pooler != Pooler::kNone,
                    "head is classes and class_pooling is pooler, so pooler must not be none");
  base::check_usage(pooling != Pooling::kPooler || pooler != Pooler::kNone,
                    "pooling is pooler, so pooler must not be none");
  base::check_usage(layer.window == 0, "window is {}, an encoder has none; set it to 0", layer.window);
}

ModelSizes EncoderOnlyConfig::sizes() const {
  return {.source_vocab_size = vocab_size,
          .target_vocab_size = 0,
          .d_model = d_model,
          .max_positions = max_positions,
          .one_vocabulary = false,
          .state_floats = 0};
}

void EncoderOnlyConfig::set_vocabulary_sizes(int64_t source, int64_t /*target*/) {
  vocab_size = source;
}

std::vector<std::pair<std::string, std::string>> EncoderOnlyConfig::facts() const {
  return {{"layers", fmt::format("{}", layers)},
          {"d_model / d_ff / heads", fmt::format("{} / {} / {}", d_model, d_ff, n_heads)},
          {"norm", fmt::format("{} {}", base::name_of(norm_order), base::name_of(layer.norm))},
          {"positions", fmt::format("{}, {}", base::name_of(positions), max_positions)},
          {"head", head == EncoderHead::kClasses || head == EncoderHead::kTags
                       ? fmt::format("{}, {} labels", base::name_of(head), n_labels)
                       : std::string(base::name_of(head))},
          {"vocabulary", fmt::format("{}", vocab_size)}};
}

nn::LayerConfig EncoderOnlyConfig::layer_config() const {
  return {d_model,
          d_ff,
          n_heads,
          norm_order,
          activation,
          dropout,
          attention_dropout,
          activation_dropout,
          layer_norm_epsilon,
          layer,
          {},
          1};  // BERT draws all maps from the same distribution
}

std::string to_json(const EncoderOnlyConfig& config) {
  nlohmann::json tree = base::json_of_fields(config, kEveryField);
  tree[kArchitectureKey] = EncoderOnlyConfig::kArchitecture;
  if (config.class_pooling == Pooling::kPooler) {
    tree.erase(kClassPooling);
  }
  return base::dump_json(tree, 2) + "\n";
}

EncoderOnlyConfig encoder_only_config_from_json(std::string_view text, std::string_view file_name) {
  std::vector<std::string> optional = base::names_of_fields<nn::LayerOptions>(kEveryField);
  optional.emplace_back(kClassPooling);
  return read_config<EncoderOnlyConfig>(text, file_name, optional);
}

}  // namespace dragoman::models
