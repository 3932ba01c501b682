#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fields.h"
#include "models/model_config.h"
#include "models/tying.h"
#include "nn/layer_config.h"

namespace dragoman::models {

/// A convolutional encoder-decoder, complete and checked. `fields` says of each field what it means.
struct ConvolutionalConfig {
  static constexpr std::string_view kArchitecture = "convolutional";

  int64_t source_vocab_size = 0;
  int64_t target_vocab_size = 0;
  int encoder_layers = 4;
  int decoder_layers = 3;
  int64_t d_model = 256;
  int64_t d_hidden = 256;
  int kernel_width = 3;
  bool weight_norm = false;
  bool scale_embedding = true;   ///< words are multiplied by the root of d_model
  int64_t max_positions = 1024;  ///< longest source or target in tokens, sentence end included
  Tying tying = Tying::kAll;
  float dropout = 0.2F;
  float source_word_dropout = 0.0F;
  float target_word_dropout = 0.0F;

  static constexpr const char* kTitle = "Shape of a convolutional model";  ///< in --help
  /// Calls visit(base::Field) for each field.
  template <typename Visit>
  static void fields(Visit&& visit);

  /// Throws Error(kUsage): "kernel_width is 1, must be 2 to 63".
  void check() const;
  ModelSizes sizes() const;
  void set_vocabulary_sizes(int64_t source, int64_t target);
  std::vector<std::pair<std::string, std::string>> facts() const;

  /// Floats that a decoder layer keeps of the rows before a row.
  int64_t past_width() const { return (kernel_width - 1) * d_hidden; }
  /// What the embeddings need to know.
  nn::LayerConfig embedding() const;
};

template <typename Visit>
void ConvolutionalConfig::fields(Visit&& visit) {
  using base::Field;
  using C = ConvolutionalConfig;
  constexpr base::Range kDropout = {0.0, 0.95};
  visit(Field("encoder_layers", &C::encoder_layers, "Layers of the encoder", {1, 512}));
  visit(Field("decoder_layers", &C::decoder_layers, "Layers of the decoder", {1, 512}));
  visit(Field("d_model", &C::d_model, "Width of embeddings and of the rows of the output layer", {1, 65'536}));
  visit(Field("d_hidden", &C::d_hidden, "Width of the rows between convolutions", {1, 65'536}));
  visit(Field("kernel_width", &C::kernel_width, "Rows that a convolution sees at once", {2, 63}));
  visit(Field("weight_norm", &C::weight_norm,
              "Weight normalisation: each column of a weight is a length and a direction"));
  visit(Field("scale_embedding", &C::scale_embedding, "Embeddings are multiplied by the root of d_model"));
  visit(Field("max_positions", &C::max_positions, "Longest sentence, end included", {2, 1 << 20}, "tokens"));
  visit(Field("tying", &C::tying, "Which of source embedding, target embedding and output weight are one"));
  visit(Field("dropout", &C::dropout, "Probability, on embeddings, before convolutions and on the last rows", kDropout)
            .in(base::kMostUsed));
  visit(Field("source_word_dropout", &C::source_word_dropout, "Probability, of whole source words", kDropout));
  visit(Field("target_word_dropout", &C::target_word_dropout, "Probability, of whole target words", kDropout));
  visit(Field("source_vocab_size", &C::source_vocab_size, "Pieces of the source", {4, 1 << 24}).without_flag());
  visit(Field("target_vocab_size", &C::target_vocab_size, "Pieces of the target", {4, 1 << 24}).without_flag());
}

/// JSON text of config.json and back. The reader throws Error(kBadData) for unknown and missing keys, wrong types and
/// whatever check() refuses.
std::string to_json(const ConvolutionalConfig& config);
ConvolutionalConfig convolutional_config_from_json(std::string_view text, std::string_view file_name);

}  // namespace dragoman::models
