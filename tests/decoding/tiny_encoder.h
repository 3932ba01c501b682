#pragma once

#include <memory>
#include <string>

#include "data/labels.h"
#include "data/vocabulary/tokenizer_makers.h"
#include "models/encoder_only/encoder_only.h"

namespace dragoman::decoding {

/// The vocabulary of a tiny encoder: some words and the letters, as WordPiece cuts them.
inline data::Vocabulary word_pieces() {
  std::string pieces = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\ncat\ndog\nruns\nsleeps\nand\n.\n";
  for (char letter = 'a'; letter <= 'z'; ++letter) {
    pieces += std::string(1, letter) + "\n##" + letter + "\n";
  }
  return data::from_vocab_txt(pieces, {});
}

inline constexpr int64_t kTinyLabels = 3;
inline constexpr int64_t kTinyEncoderContext = 24;

/// The labels of a tiny encoder; none without a head that has labels.
inline data::Labels tiny_labels(models::EncoderHead head) {
  const bool has_labels = head == models::EncoderHead::kClasses || head == models::EncoderHead::kTags;
  return has_labels ? data::Labels({"day", "dusk", "night"}) : data::Labels();
}

/// A random encoder with this head, sharper than fresh weights so that its answers differ from text to text.
inline std::shared_ptr<models::EncoderOnly> tiny_encoder(models::EncoderHead head, uint64_t seed = 1,
                                                         int64_t context = kTinyEncoderContext) {
  models::EncoderOnlyConfig config;
  config.vocab_size = word_pieces().size();
  config.layers = 2;
  config.d_model = 16;
  config.d_ff = 32;
  config.n_heads = 2;
  config.max_positions = context;
  config.head = head;
  config.n_labels = tiny_labels(head).size();
  config.layer.initial_weights = nn::InitialWeights::kXavier;
  auto model = std::make_shared<models::EncoderOnly>(config);
  model->parameters().allocate();
  model->parameters().initialize(seed);
  for (float& value : model->parameters().mutable_values().span<float>()) {
    value *= 2.0F;
  }
  model->parameters().pack_weights();
  return model;
}

}  // namespace dragoman::decoding
