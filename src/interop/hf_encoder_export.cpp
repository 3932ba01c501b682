#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json.h"
#include "data/labels.h"
#include "data/masked_examples.h"
#include "interop/hf_encoder.h"
#include "interop/hf_tokenizer.h"
#include "interop/model_source.h"
#include "interop/requirements.h"
#include "models/architectures/architectures.h"
#include "models/model.h"
#include "models/model_tensors.h"
#include "ops/embedding.h"

namespace dragoman::interop {
namespace {

namespace fs = std::filesystem;
using models::EncoderHead;
using models::EncoderOnlyConfig;
using models::Pooler;
using models::Pooling;
using nlohmann::json;

constexpr int32_t kRobertaPad = 1;  // positions of RoBERTa count from the id of its pad

const char* program_of(HfEncoderLayout layout) {
  return layout == HfEncoderLayout::kBert ? "BERT" : layout == HfEncoderLayout::kRoberta ? "RoBERTa" : "DistilBERT";
}

void check_layers(const EncoderOnlyConfig& config, const Requirements& theirs) {
  const nn::LayerOptions& layer = config.layer;
  theirs.require(config.norm_order == nn::NormOrder::kPost, "norm_order", base::name_of(config.norm_order), "post");
  theirs.require(layer.norm == kernels::NormKind::kLayer, "norm", base::name_of(layer.norm), "layer");
  theirs.require(config.embedding_norm, "embedding_norm", config.embedding_norm, "true");
  theirs.require(config.positions == nn::PositionKind::kLearned || config.positions == nn::PositionKind::kSinusoidal,
                 "positions", base::name_of(config.positions), "learned and sinusoidal");
  theirs.require(layer.biases == nn::Biases::kAll, "biases", base::name_of(layer.biases), "all");
  theirs.require(layer.feed_forward == nn::FeedForwardKind::kPlain, "feed_forward", base::name_of(layer.feed_forward),
                 "plain");
  theirs.require(config.layer_config().kv_heads() == config.n_heads, "n_kv_heads", layer.n_kv_heads, "that of n_heads");
  theirs.require(config.layer_config().head_width() * config.n_heads == config.d_model, "d_head", layer.d_head,
                 "d_model / n_heads");
  theirs.require(layer.d_key == 0, "d_key", layer.d_key, "0");
  theirs.require(layer.scale_attention, "scale_attention", layer.scale_attention, "true");
  theirs.require(!layer.scale_embedding, "scale_embedding", layer.scale_embedding, "false");
  theirs.require(!layer.qk_norm, "qk_norm", layer.qk_norm, "false");
  theirs.require(!hf_name_of(config.activation).empty(), "activation", base::name_of(config.activation),
                 "those of transformers");
}

// What differs between the layouts: segments, the epsilon, and the way from the first row to the classes.
void check_layout(const EncoderOnlyConfig& config, HfEncoderLayout layout, const Requirements& theirs) {
  constexpr float kDistilBertEpsilon = 1e-12F;
  const bool is_distilled = layout == HfEncoderLayout::kDistilBert;
  theirs.require(layout == HfEncoderLayout::kBert ? config.segments > 0 : config.segments == (is_distilled ? 0 : 1),
                 "segments", config.segments,
                 is_distilled                       ? "0"
                 : layout == HfEncoderLayout::kBert ? "1 to 16"
                                                    : "1");
  theirs.require(!is_distilled || config.layer_norm_epsilon == kDistilBertEpsilon, "layer_norm_epsilon",
                 config.layer_norm_epsilon, "1e-12");
  if (config.head == EncoderHead::kClasses) {
    theirs.require(config.class_pooling == Pooling::kPooler, "class_pooling", base::name_of(config.class_pooling),
                   "pooler");
    theirs.require(config.pooler == (is_distilled ? Pooler::kRelu : Pooler::kTanh), "pooler",
                   base::name_of(config.pooler), is_distilled ? "relu" : "tanh");
  }
  const bool keeps_pooler = config.head == EncoderHead::kClasses || config.head == EncoderHead::kNone;
  if (config.pooling == Pooling::kPooler) {
    theirs.require(keeps_pooler && !is_distilled, "pooling", "pooler", "mean and first");
  }
  if (config.head == EncoderHead::kNone) {
    theirs.require(config.pooler == Pooler::kNone || (!is_distilled && config.pooler == Pooler::kTanh), "pooler",
                   base::name_of(config.pooler), is_distilled ? "none" : "tanh and none");
  }
}

data::Vocabulary tokenizer_of(const models::ModelFiles& model, const fs::path& folder, HfEncoderLayout layout) {
  const std::string name = (folder / models::kTokenizerName).string();
  const auto found = model.vocabularies.find(models::kTokenizerName);
  base::check_data(found != model.vocabularies.end(), "{}: is missing; an encoder of transformers has it", name);
  data::Vocabulary vocabulary = data::Vocabulary::from_bytes(found->second, name);
  base::check_data(layout != HfEncoderLayout::kRoberta || vocabulary.special().pad == kRobertaPad,
                   "{}: the piece for padding has the id {}, RoBERTa counts positions from the id 1; export the model "
                   "as hf-bert",
                   name, vocabulary.special().pad);
  return vocabulary;
}

const char* class_of(EncoderHead head, HfEncoderLayout layout) {
  constexpr const char* kClasses[3][4] = {
      {"BertModel", "BertForMaskedLM", "BertForSequenceClassification", "BertForTokenClassification"},
      {"RobertaModel", "RobertaForMaskedLM", "RobertaForSequenceClassification", "RobertaForTokenClassification"},
      {"DistilBertModel", "DistilBertForMaskedLM", "DistilBertForSequenceClassification",
       "DistilBertForTokenClassification"}};
  return kClasses[static_cast<size_t>(layout)][static_cast<size_t>(head)];
}

void add_labels(const models::ModelFiles& model, const fs::path& folder, int64_t count, json& tree) {
  const data::Labels labels = model.labels.empty()
                                  ? data::numbered_labels(count)
                                  : data::Labels::from_json(model.labels, (folder / models::kLabelsName).string());
  for (int32_t id = 0; id < labels.size(); ++id) {
    tree["id2label"][std::to_string(id)] = labels.name(id);
    tree["label2id"][labels.name(id)] = id;
  }
}

json config_json(const HfEncoderConfig& hf, const data::Vocabulary& vocabulary) {
  const EncoderOnlyConfig& config = hf.model;
  const HfEncoderKeys keys = keys_of(hf.layout);
  const bool is_roberta = hf.layout == HfEncoderLayout::kRoberta;
  json tree = {{"architectures", {class_of(config.head, hf.layout)}},
               {"model_type", base::name_of(hf.layout)},
               {"vocab_size", config.vocab_size},
               {keys.width, config.d_model},
               {keys.layers, config.layers},
               {keys.heads, config.n_heads},
               {keys.feed_forward, config.d_ff},
               {keys.activation, hf_name_of(config.activation)},
               {keys.dropout, base::decimal(config.dropout)},
               {keys.attention_dropout, base::decimal(config.attention_dropout)},
               {"max_position_embeddings", config.max_positions + (is_roberta ? 2 : 0)},
               {"pad_token_id", vocabulary.special().pad < 0 ? json() : json(vocabulary.special().pad)},
               {"tie_word_embeddings", true},
               {"dtype", "float32"},
               {"torch_dtype", "float32"}};
  if (hf.layout == HfEncoderLayout::kDistilBert) {
    tree["sinusoidal_pos_embds"] = false;
  } else {
    tree["type_vocab_size"] = config.segments;
    tree["layer_norm_eps"] = base::decimal(config.layer_norm_epsilon);
  }
  return tree;
}

// AutoTokenizer then loads tokenizer.json as it is and gives each layout what it takes.
std::string tokenizer_config_json(const data::Vocabulary& vocabulary, const HfEncoderConfig& hf) {
  json tree = json::parse(hf_tokenizer_config_json(vocabulary, hf.model.max_positions, ""));
  const data::TextFrame& frame = vocabulary.frame();
  const auto name = [&](const char* key, int32_t id) {
    if (id >= 0) {
      tree[key] = vocabulary.piece(id);
    }
  };
  name("cls_token", frame.first);
  name("sep_token", frame.last);
  name("mask_token", data::mask_id(vocabulary));
  tree["model_input_names"] = hf.layout == HfEncoderLayout::kBert
                                  ? json{"input_ids", "token_type_ids", "attention_mask"}
                                  : json{"input_ids", "attention_mask"};
  return base::dump_json(tree, 2) + "\n";
}

// What sentence-transformers reads beside the model: how rows become one vector.
void add_sentence_files(const EncoderOnlyConfig& config, ExportedModel& exported) {
  json modules = json::array();
  const auto add = [&](const char* kind, const std::string& path) {
    const size_t number = modules.size();
    modules.push_back({{"idx", number},
                       {"name", std::to_string(number)},
                       {"path", path},
                       {"type", std::string("sentence_transformers.models.") + kind}});
  };
  add("Transformer", "");
  add("Pooling", kPoolingFolder);
  if (config.unit_length) {
    add("Normalize", "2_Normalize");
  }
  const json pooling = {{"word_embedding_dimension", config.d_model},
                        {"pooling_mode_cls_token", config.pooling == Pooling::kFirst},
                        {"pooling_mode_mean_tokens", config.pooling == Pooling::kMean},
                        {"pooling_mode_max_tokens", false},
                        {"pooling_mode_mean_sqrt_len_tokens", false}};
  exported.texts[kModulesName] = base::dump_json(modules, 2) + "\n";
  exported.texts["sentence_bert_config.json"] =
      base::dump_json({{"max_seq_length", config.max_positions}, {"do_lower_case", false}}, 2) + "\n";
  exported.folders[kPoolingFolder] = {{kHfConfigName, base::dump_json(pooling, 2) + "\n"}};
}

// Whether the folder must say how texts become vectors: without, it is the mean.
bool says_pooling(const EncoderOnlyConfig& config) {
  const bool differs = config.unit_length || config.pooling != Pooling::kMean;
  return config.pooling != Pooling::kPooler && (differs || config.head == EncoderHead::kNone);
}

void add_notes(const EncoderOnlyConfig& config, bool drops_pooler, std::vector<std::string>& notes) {
  if (drops_pooler) {
    notes.push_back(fmt::format("the pooler is left out: a head for {} does not use it", base::name_of(config.head)));
  }
  if (config.pooling == Pooling::kPooler) {
    notes.emplace_back(
        "sentence-transformers has no vectors behind the pooler; the vectors are pooler_output of transformers");
  }
}

}  // namespace

ExportedModel export_encoder(const models::ModelFiles& model, const fs::path& folder, HfEncoderLayout layout) {
  const std::string config_name = (folder / models::kConfigName).string();
  const std::string weights_name = (folder / models::kWeightsName).string();
  const models::ModelConfig read = models::config_from_json(model.config, config_name);
  const auto* const found = read.get_if<EncoderOnlyConfig>();
  base::check_data(found != nullptr, "{}: architecture is {}, must be {} for this format", config_name,
                   read.architecture(), EncoderOnlyConfig::kArchitecture);
  models::check_tensors(models::make_model(read)->parameters(), model.tensors, weights_name);
  HfEncoderConfig hf{.layout = layout, .model = *found, .labels = found->n_labels, .label_names = {}};
  const Requirements theirs(config_name, program_of(layout));
  check_layers(hf.model, theirs);
  check_layout(hf.model, layout, theirs);
  tensor::NamedTensors tensors = model.tensors;
  if (hf.model.positions == nn::PositionKind::kSinusoidal) {
    tensors["embedding.positions"] = ops::sinusoidal_positions(hf.model.max_positions, hf.model.d_model);
    hf.model.positions = nn::PositionKind::kLearned;
  }
  const bool drops_pooler =
      (hf.model.head == EncoderHead::kWords || hf.model.head == EncoderHead::kTags) && hf.model.pooler != Pooler::kNone;
  hf.model.pooler = drops_pooler ? Pooler::kNone : hf.model.pooler;
  const data::Vocabulary vocabulary = tokenizer_of(model, folder, layout);
  json config = config_json(hf, vocabulary);
  if (hf.model.n_labels > 0) {
    add_labels(model, folder, hf.model.n_labels, config);
  }
  ExportedModel exported;
  const std::string prefix = hf.model.head == EncoderHead::kNone ? "" : std::string(base::name_of(layout)) + ".";
  exported.tensors = export_pairs(tensors, hf_encoder_tensors(hf, prefix), weights_name);
  exported.texts = {{kHfConfigName, base::dump_json(config, 2) + "\n"},
                    {kHfTokenizerName, vocabulary.bytes()},
                    {kHfTokenizerConfigName, tokenizer_config_json(vocabulary, hf)}};
  if (says_pooling(hf.model)) {
    add_sentence_files(hf.model, exported);
  }
  add_notes(hf.model, drops_pooler, exported.notes);
  return exported;
}

}  // namespace dragoman::interop
