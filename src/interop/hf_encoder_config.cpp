#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json.h"
#include "interop/hf_encoder.h"

namespace dragoman::interop {
namespace {

using base::check_data;
using models::EncoderOnlyConfig;
using nlohmann::json;

constexpr int64_t kMaxLabels = 1 << 20;

int64_t count_labels(HfFields& fields) {
  constexpr int64_t kDefault = 2;
  const int64_t number = fields.integer("num_labels", 1, kMaxLabels, kDefault);
  if (!fields.has("id2label")) {
    return number;
  }
  const json& labels = fields.value("id2label");
  check_data(labels.is_object() && !labels.empty() && labels.size() <= static_cast<size_t>(kMaxLabels),
             "{}: id2label must be an object with 1 to {} labels", fields.file(), kMaxLabels);
  return static_cast<int64_t>(labels.size());
}

// The names of id2label in the order of their numbers; none where a number or a name is missing, or a name is no label.
std::vector<std::string> label_names(HfFields& fields, int64_t count) {
  if (!fields.has("id2label")) {
    return {};
  }
  const json& labels = fields.value("id2label");
  std::vector<std::string> names;
  for (int64_t id = 0; id < count; ++id) {
    const auto found = labels.find(std::to_string(id));
    if (found == labels.end() || !found->is_string()) {
      return {};
    }
    names.push_back(found->get<std::string>());
  }
  return names;
}

void read_sizes(HfFields& fields, const HfEncoderKeys& keys, EncoderOnlyConfig& model) {
  model.vocab_size = fields.integer("vocab_size", 1, kMaxVocabulary);
  model.d_model = fields.integer(keys.width, 1, kMaxWidth);
  model.layers = static_cast<int>(fields.integer(keys.layers, 1, 512));
  model.n_heads = static_cast<int>(fields.integer(keys.heads, 1, kMaxHeads));
  model.d_ff = fields.integer(keys.feed_forward, 1, 4 * kMaxWidth);
  model.max_positions = fields.integer("max_position_embeddings", 4, kMaxPositions);
  model.activation = read_activation(fields, keys.activation, "gelu");
  model.dropout = static_cast<float>(fields.number(keys.dropout, 0.0, 0.95, 0.1));
  model.attention_dropout = static_cast<float>(fields.number(keys.attention_dropout, 0.0, 0.95, 0.1));
}

void check_positions(HfFields& fields, HfEncoderLayout layout) {
  if (layout == HfEncoderLayout::kDistilBert) {
    static_cast<void>(fields.flag("sinusoidal_pos_embds", false));  // the table is in the folder whatever it says
    return;
  }
  const std::string kind = fields.text("position_embedding_type", "absolute");
  check_data(kind == "absolute", "{}: position_embedding_type is \"{}\", dragoman imports models with absolute only",
             fields.file(), kind);
}

}  // namespace

HfEncoderKeys keys_of(HfEncoderLayout layout) {
  return layout == HfEncoderLayout::kDistilBert
             ? HfEncoderKeys{"dim", "n_layers", "n_heads", "hidden_dim", "activation", "dropout", "attention_dropout"}
             : HfEncoderKeys{"hidden_size", "num_hidden_layers",   "num_attention_heads",         "intermediate_size",
                             "hidden_act",  "hidden_dropout_prob", "attention_probs_dropout_prob"};
}

HfEncoderConfig encoder_config_from_json(std::string_view text, const std::string& file_name, HfEncoderLayout layout) {
  const json tree = base::parse_json(text, file_name);
  HfFields fields(tree, file_name);
  const std::string type = fields.text("model_type", "");
  check_data(type == base::name_of(layout), "{}: model_type is \"{}\", must be {}", file_name, type,
             base::name_of(layout));
  const bool is_distilled = layout == HfEncoderLayout::kDistilBert;
  HfEncoderConfig config;
  config.layout = layout;
  EncoderOnlyConfig& model = config.model;
  read_sizes(fields, keys_of(layout), model);
  model.segments = is_distilled ? 0 : static_cast<int>(fields.integer("type_vocab_size", 0, 16, 2));
  model.layer_norm_epsilon =
      static_cast<float>(fields.number("layer_norm_eps", 1e-12, 0.1, 1e-12));  // DistilBERT has no key for it
  if (layout == HfEncoderLayout::kRoberta) {
    model.max_positions -= 2;  // the first two rows belong to no position
  }
  check_positions(fields, layout);
  config.labels = count_labels(fields);
  config.label_names = label_names(fields, config.labels);
  static_cast<void>(read_token_ids(fields));  // the tokenizer says which
  for (const char* key : {"is_decoder", "is_encoder_decoder", "add_cross_attention", "tie_encoder_decoder"}) {
    fields.must_be(key, false);
  }
  fields.must_be("tie_word_embeddings", true);
  for (const char* key : {"classifier_dropout", "qa_dropout", "seq_classif_dropout"}) {
    static_cast<void>(fields.has(key));  // of training
  }
  fields.refuse_unknown();
  model.head = models::EncoderHead::kNone;
  model.pooler = models::Pooler::kNone;
  try {
    model.check();
  } catch (const base::Error& error) {
    base::fail(base::ErrorKind::kBadData, "{}: {}", file_name, error.what());
  }
  return config;
}

}  // namespace dragoman::interop
