#pragma once

#include <string>
#include <string_view>

#include "base/fields.h"
#include "models/model_config.h"
#include "nn/layer_config.h"
#include "nn/token_embedding.h"

namespace dragoman::models {

/// What the output layer of an encoder predicts.
enum class EncoderHead {
  kNone,
  kWords,    ///< the token of each row, behind a map, an activation and a norm (masked language model)
  kClasses,  ///< one label of each text, from the pooled row
  kTags,     ///< one label of each row
};

constexpr base::Names<EncoderHead> names_of(EncoderHead) {
  return {"head",
          {{EncoderHead::kNone, "none"},
           {EncoderHead::kWords, "words"},
           {EncoderHead::kClasses, "classes"},
           {EncoderHead::kTags, "tags"}}};
}

/// The map of the first row of each text.
enum class Pooler { kNone, kTanh, kRelu };

constexpr base::Names<Pooler> names_of(Pooler) {
  return {"pooler", {{Pooler::kNone, "none"}, {Pooler::kTanh, "tanh"}, {Pooler::kRelu, "relu"}}};
}

/// What stands for a whole text: in `embed`, and before a head for classes.
enum class Pooling {
  kMean,    ///< the mean of its rows, those around the text included
  kFirst,   ///< its first row
  kPooler,  ///< its first row behind the pooler
};

constexpr base::Names<Pooling> names_of(Pooling) {
  return {"pooling", {{Pooling::kMean, "mean"}, {Pooling::kFirst, "first"}, {Pooling::kPooler, "pooler"}}};
}

/// An encoder without a decoder, complete and checked. `fields` says of each field what it means. The defaults are
/// those of BERT's base (Devlin et al. 2019).
struct EncoderOnlyConfig {
  static constexpr std::string_view kArchitecture = "encoder-only";

  int64_t vocab_size = 0;
  int segments = 2;
  int layers = 12;
  int64_t d_model = 768;
  int64_t d_ff = 3072;
  int n_heads = 12;
  nn::NormOrder norm_order = nn::NormOrder::kPost;
  kernels::Activation activation = kernels::Activation::kGelu;
  nn::PositionKind positions = nn::PositionKind::kLearned;
  int64_t max_positions = 512;
  bool embedding_norm = true;
  Pooler pooler = Pooler::kTanh;
  EncoderHead head = EncoderHead::kWords;
  int64_t n_labels = 0;
  Pooling pooling = Pooling::kMean;
  Pooling class_pooling = Pooling::kPooler;
  bool unit_length = false;
  float dropout = 0.1F;
  float attention_dropout = 0.1F;
  float activation_dropout = 0.0F;
  float layer_norm_epsilon = 1e-12F;
  nn::LayerOptions layer = as_bert();

  static constexpr const char* kTitle = "Shape of the model";  ///< in --help
  /// Calls visit(base::Field) for each field.
  template <typename Visit>
  static void fields(Visit&& visit);
  /// Calls visit(member pointer) for the options of the layers.
  template <typename Visit>
  static void parts(Visit&& visit) {
    visit(&EncoderOnlyConfig::layer);
  }

  /// Throws Error(kUsage) naming field, rule and value: "class_pooling is pooler, so pooler must not be none".
  void check() const;
  ModelSizes sizes() const;
  void set_vocabulary_sizes(int64_t source, int64_t target);
  std::vector<std::pair<std::string, std::string>> facts() const;
  /// Returns: what a layer needs to know; without the table of rotations, which the model makes.
  nn::LayerConfig layer_config() const;

 private:
  static nn::LayerOptions as_bert();
};

inline nn::LayerOptions EncoderOnlyConfig::as_bert() {
  nn::LayerOptions options;
  options.scale_embedding = false;
  options.initial_weights = nn::InitialWeights::kGpt2;
  return options;
}

template <typename Visit>
void EncoderOnlyConfig::fields(Visit&& visit) {
  using base::Field;
  using C = EncoderOnlyConfig;
  constexpr base::Range kDropout = {0.0, 0.95};
  visit(Field("layers", &C::layers, "Layers of an encoder without a decoder", {1, 512}));
  visit(Field("d_model", &C::d_model, "Width of the model", {1, 65'536}));
  visit(Field("d_ff", &C::d_ff, "Width of the feed-forward", {1, 262'144}));
  visit(Field("n_heads", &C::n_heads, "Attention heads; divides --d-model", {1, 1024}));
  visit(Field("norm_order", &C::norm_order, "Layer norm after the residual sum or before the sub-layer"));
  visit(Field("activation", &C::activation, "Activation of the feed-forward"));
  visit(Field("positions", &C::positions, "Position encoding"));
  visit(Field("max_positions", &C::max_positions, "Longest text", {2, 1 << 20}, "tokens"));
  visit(Field("segments", &C::segments, "Kinds of texts in one input, which have a vector each; 0 = no such vectors",
              {0, 16}));
  visit(Field("embedding_norm", &C::embedding_norm, "The sum of the embeddings is normalised (true or false)"));
  visit(Field("pooler", &C::pooler, "Activation of a map of the first row of each text"));
  visit(Field("head", &C::head, "What the output layer predicts").without_flag());
  visit(Field("n_labels", &C::n_labels, "Labels of the heads classes and tags", {0, 1 << 20}).without_flag());
  visit(Field("pooling", &C::pooling, "What stands for a text in embed"));
  visit(Field("class_pooling", &C::class_pooling, "What stands for a text before a head for classes").without_flag());
  visit(Field("unit_length", &C::unit_length, "Vectors of embed are divided by their length (true or false)"));
  visit(Field("dropout", &C::dropout, "Probability, on sub-layer outputs and embeddings", kDropout));
  visit(Field("attention_dropout", &C::attention_dropout, "Probability, on attention weights", kDropout));
  visit(Field("activation_dropout", &C::activation_dropout, "Probability, inside the feed-forward", kDropout));
  visit(Field("vocab_size", &C::vocab_size, "Pieces", {1, 1 << 24}).without_flag());
  visit(Field("layer_norm_epsilon", &C::layer_norm_epsilon, "Added to the variance in layer norm", {1e-13, 0.1})
            .without_flag());
}

/// JSON text of config.json and back. The reader throws Error(kBadData) for unknown keys (a near name suggested),
/// missing keys, wrong types and whatever check() refuses. Options of the layers may be missing: their defaults.
/// class_pooling is written unless it is pooler, as in all models from before it.
std::string to_json(const EncoderOnlyConfig& config);
EncoderOnlyConfig encoder_only_config_from_json(std::string_view text, std::string_view file_name);

}  // namespace dragoman::models
