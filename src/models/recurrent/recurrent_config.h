#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fields.h"
#include "kernels/recurrent.h"
#include "models/model_config.h"
#include "models/tying.h"
#include "nn/layer_config.h"

namespace dragoman::models {

/// How the decoder of a recurrent model sees the source.
enum class RecurrentAttention {
  kNone,      ///< through its first state alone (Sutskever et al. 2014)
  kBahdanau,  ///< additive scores of the state before a step, whose context the cell reads (Bahdanau et al. 2015)
  kLuong,     ///< multiplicative scores of the state behind a step (Luong et al. 2015, "global, general")
};

constexpr base::Names<RecurrentAttention> names_of(RecurrentAttention) {
  return {"attention",
          {{RecurrentAttention::kNone, "none"},
           {RecurrentAttention::kBahdanau, "bahdanau"},
           {RecurrentAttention::kLuong, "luong"}}};
}

/// A recurrent encoder-decoder, complete and checked. `fields` says of each field what it means.
struct RecurrentConfig {
  static constexpr std::string_view kArchitecture = "recurrent";

  int64_t source_vocab_size = 0;
  int64_t target_vocab_size = 0;
  kernels::CellKind cell = kernels::CellKind::kGru;
  int layers = 1;
  int64_t d_model = 256;
  int64_t d_hidden = 512;
  RecurrentAttention attention = RecurrentAttention::kBahdanau;
  bool input_feeding = false;
  int64_t max_positions = 1024;  ///< longest source or target in tokens, sentence end included
  Tying tying = Tying::kAll;
  float dropout = 0.3F;
  float source_word_dropout = 0.0F;
  float target_word_dropout = 0.0F;

  static constexpr const char* kTitle = "Shape of a recurrent model";  ///< in --help
  /// Calls visit(base::Field) for each field.
  template <typename Visit>
  static void fields(Visit&& visit);

  /// Throws Error(kUsage): "input_feeding is for attention \"luong\"; attention is \"bahdanau\"".
  void check() const;
  ModelSizes sizes() const;
  void set_vocabulary_sizes(int64_t source, int64_t target);
  std::vector<std::pair<std::string, std::string>> facts() const;

  /// C, width of the encoder's states: both directions.
  int64_t d_context() const { return 2 * d_hidden; }
  /// A, width of the keys that decoder states are scored with.
  int64_t d_key() const { return d_hidden; }
  /// Whether the cell of the first decoder layer reads what was attended to.
  bool feeds() const { return attention == RecurrentAttention::kBahdanau || input_feeding; }
  /// What the embeddings need to know.
  nn::LayerConfig embedding() const;
};

template <typename Visit>
void RecurrentConfig::fields(Visit&& visit) {
  using base::Field;
  using C = RecurrentConfig;
  constexpr base::Range kDropout = {0.0, 0.95};
  visit(Field("cell", &C::cell, "Cell of a recurrent model"));
  visit(Field("layers", &C::layers, "Layers of the encoder and of the decoder", {1, 4}));
  visit(Field("d_model", &C::d_model, "Width of embeddings and of the rows of the output layer", {1, 65'536}));
  visit(Field("d_hidden", &C::d_hidden, "Width of the recurrent state, in each direction", {1, 65'536}));
  visit(Field("attention", &C::attention, "How a recurrent decoder sees the source"));
  visit(Field("input_feeding", &C::input_feeding, "The attentional vector goes into the next step (luong)"));
  visit(Field("max_positions", &C::max_positions, "Longest sentence, end included", {2, 1 << 20}, "tokens"));
  visit(Field("tying", &C::tying, "Which of source embedding, target embedding and output weight are one"));
  visit(Field("dropout", &C::dropout, "Probability, on embeddings, between layers and on the readout", kDropout)
            .in(base::kMostUsed));
  visit(Field("source_word_dropout", &C::source_word_dropout, "Probability, of whole source words", kDropout));
  visit(Field("target_word_dropout", &C::target_word_dropout, "Probability, of whole target words", kDropout));
  visit(Field("source_vocab_size", &C::source_vocab_size, "Pieces of the source", {4, 1 << 24}).without_flag());
  visit(Field("target_vocab_size", &C::target_vocab_size, "Pieces of the target", {4, 1 << 24}).without_flag());
}

/// JSON text of config.json and back. The reader throws Error(kBadData) for unknown and missing keys, wrong types and
/// whatever check() refuses.
std::string to_json(const RecurrentConfig& config);
RecurrentConfig recurrent_config_from_json(std::string_view text, std::string_view file_name);

}  // namespace dragoman::models
