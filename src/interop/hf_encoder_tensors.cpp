#include <fmt/format.h>

#include "base/error.h"
#include "interop/hf_encoder.h"

namespace dragoman::interop {
namespace {

using models::EncoderHead;
using models::EncoderOnlyConfig;
using models::Pooler;
using tensor::Shape;

// The names of one layout's tensors.
struct EncoderNames {
  const char *layer, *query, *key, *value, *attention, *attention_norm, *inner, *outer, *feed_forward_norm;
  const char *transform, *transform_norm, *words_bias, *words_weight;
};
constexpr EncoderNames kBertNames = {"encoder.layer.{}.",
                                     "attention.self.query",
                                     "attention.self.key",
                                     "attention.self.value",
                                     "attention.output.dense",
                                     "attention.output.LayerNorm",
                                     "intermediate.dense",
                                     "output.dense",
                                     "output.LayerNorm",
                                     "cls.predictions.transform.dense",
                                     "cls.predictions.transform.LayerNorm",
                                     "cls.predictions.bias",
                                     "cls.predictions.decoder"};
constexpr EncoderNames kDistilBertNames = {
    "transformer.layer.{}.", "attention.q_lin", "attention.k_lin",  "attention.v_lin",
    "attention.out_lin",     "sa_layer_norm",   "ffn.lin1",         "ffn.lin2",
    "output_layer_norm",     "vocab_transform", "vocab_layer_norm", "vocab_projector.bias",
    "vocab_projector"};

EncoderNames names_of_layout(HfEncoderLayout layout) {
  EncoderNames names = layout == HfEncoderLayout::kDistilBert ? kDistilBertNames : kBertNames;
  if (layout == HfEncoderLayout::kRoberta) {
    names.transform = "lm_head.dense";
    names.transform_norm = "lm_head.layer_norm";
    names.words_bias = "lm_head.bias";
    names.words_weight = "lm_head.decoder";
  }
  return names;
}

// The map of the first row: DistilBERT and RoBERTa have it with a head for classes only.
const char* pooler_of(HfEncoderLayout layout) {
  return layout == HfEncoderLayout::kDistilBert ? "pre_classifier" : "pooler.dense";
}

class EncoderTensors {
 public:
  EncoderTensors(const HfEncoderConfig& config, std::string prefix)
      : config_(config), model_(config.model), names_(names_of_layout(config.layout)), prefix_(std::move(prefix)) {
    add_embedding();
    for (int layer = 0; layer < model_.layers; ++layer) {
      add_layer(layer);
    }
    add_pooler();
    add_head();
  }

  std::vector<HfTensor> take() { return std::move(tensors_); }

 private:
  void add(HfTensor tensor) { tensors_.push_back(std::move(tensor)); }

  void add_map(const std::string& ours, const std::string& theirs, int64_t d_in, int64_t d_out) {
    add({.ours = ours + ".weight", .theirs = theirs + ".weight", .shape = {d_in, d_out}, .transposed = true});
    add({.ours = ours + ".bias", .theirs = theirs + ".bias", .shape = {d_out}});
  }

  // The oldest files write gamma and beta.
  void add_norm(const std::string& ours, const std::string& theirs) {
    const Shape shape = {model_.d_model};
    add({.ours = ours + ".gain", .theirs = theirs + ".weight", .shape = shape, .other_names = {theirs + ".gamma"}});
    add({.ours = ours + ".bias", .theirs = theirs + ".bias", .shape = shape, .other_names = {theirs + ".beta"}});
  }

  void add_embedding() {
    const int64_t d = model_.d_model;
    const std::string theirs = prefix_ + "embeddings.";
    const bool has_words = model_.head == EncoderHead::kWords;
    add({.ours = "embedding.weight",
         .theirs = theirs + "word_embeddings.weight",
         .shape = {model_.vocab_size, d},
         .other_names = has_words ? std::vector<std::string>{std::string(names_.words_weight) + ".weight"}
                                  : std::vector<std::string>{}});
    add({.ours = "embedding.positions",
         .theirs = theirs + "position_embeddings.weight",
         .shape = {model_.max_positions, d},
         .rows_before = config_.layout == HfEncoderLayout::kRoberta ? 2 : 0});
    if (model_.segments > 0) {
      add({.ours = "embedding.segments",
           .theirs = theirs + "token_type_embeddings.weight",
           .shape = {model_.segments, d}});
    }
    add_norm("embedding.norm", theirs + "LayerNorm");
  }

  void add_layer(int layer) {
    const int64_t d = model_.d_model;
    const std::string ours = fmt::format("layers.{}.", layer);
    const std::string theirs = prefix_ + fmt::format(fmt::runtime(names_.layer), layer);
    add_map(ours + "self_attention.query", theirs + names_.query, d, d);
    add_map(ours + "self_attention.key", theirs + names_.key, d, d);
    add_map(ours + "self_attention.value", theirs + names_.value, d, d);
    add_map(ours + "self_attention.output", theirs + names_.attention, d, d);
    add_norm(ours + "self_attention.norm", theirs + names_.attention_norm);
    add_map(ours + "feed_forward.inner", theirs + names_.inner, d, model_.d_ff);
    add_map(ours + "feed_forward.outer", theirs + names_.outer, model_.d_ff, d);
    add_norm(ours + "feed_forward.norm", theirs + names_.feed_forward_norm);
  }

  bool is_roberta_classifier() const {
    return config_.layout == HfEncoderLayout::kRoberta && model_.head == EncoderHead::kClasses;
  }

  void add_pooler() {
    if (model_.pooler == Pooler::kNone) {
      return;
    }
    const bool is_distilled = config_.layout == HfEncoderLayout::kDistilBert;
    const std::string theirs =
        is_roberta_classifier() ? "classifier.dense" : (is_distilled ? "" : prefix_) + pooler_of(config_.layout);
    add_map("pooler", theirs, model_.d_model, model_.d_model);
  }

  void add_head() {
    if (model_.head == EncoderHead::kWords) {
      add_map("transform", names_.transform, model_.d_model, model_.d_model);
      add_norm("transform.norm", names_.transform_norm);
      add({.ours = "output.bias",
           .theirs = names_.words_bias,
           .shape = {model_.vocab_size},
           .other_names = {std::string(names_.words_weight) + ".bias"}});
    } else if (model_.head != EncoderHead::kNone) {
      const std::string theirs = is_roberta_classifier() ? "classifier.out_proj" : "classifier";
      add({.ours = "output.weight", .theirs = theirs + ".weight", .shape = {model_.n_labels, model_.d_model}});
      add({.ours = "output.bias", .theirs = theirs + ".bias", .shape = {model_.n_labels}});
    }
  }

  const HfEncoderConfig& config_;
  const EncoderOnlyConfig& model_;
  EncoderNames names_;
  std::string prefix_;
  std::vector<HfTensor> tensors_;
};

}  // namespace

void read_head(const TensorSource& source, HfEncoderConfig& config) {
  EncoderOnlyConfig& model = config.model;
  const bool is_distilled = config.layout == HfEncoderLayout::kDistilBert;
  const bool has_pooler = source.has("pooler.dense.weight") || source.has("bert.pooler.dense.weight") ||
                          source.has("roberta.pooler.dense.weight") || source.has("pre_classifier.weight");
  const bool has_dense_classifier = source.has("classifier.out_proj.weight");
  if (has_pooler || has_dense_classifier) {
    model.pooler = is_distilled ? Pooler::kRelu : Pooler::kTanh;
  }
  if (source.has(std::string(names_of_layout(config.layout).transform) + ".weight")) {
    model.head = EncoderHead::kWords;
  } else if (has_dense_classifier || source.has("classifier.weight")) {
    model.head = model.pooler == Pooler::kNone ? EncoderHead::kTags : EncoderHead::kClasses;
    model.n_labels = config.labels;
  }
  model.check();
}

std::vector<HfTensor> hf_encoder_tensors(const HfEncoderConfig& config, const std::string& prefix) {
  return EncoderTensors(config, prefix).take();
}

}  // namespace dragoman::interop
