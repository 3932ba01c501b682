#pragma once

#include <memory>
#include <string>

#include "data/vocabulary/tokenizer_makers.h"
#include "models/decoder_only/decoder_only.h"

namespace dragoman::decoding {

inline constexpr const char* kLetters = "\n abcdefghijklmnopqrstuvwxyz.";

/// The vocabulary of a tiny language model: letters, and <|endoftext|> as the last id.
inline data::Vocabulary letters() {
  return data::character_tokenizer(kLetters, {.with_end_of_text = true});
}

/// A random language model over these letters, sharper than fresh weights so that the likeliest token differs from step
/// to step.
inline std::shared_ptr<models::DecoderOnly> tiny_language_model(
    uint64_t seed = 1, int64_t context = 48, nn::PositionKind positions = nn::PositionKind::kLearned) {
  models::DecoderOnlyConfig config;
  config.vocab_size = letters().size();
  config.layers = 2;
  config.d_model = 16;
  config.d_ff = 32;
  config.n_heads = 2;
  config.max_positions = context;
  config.positions = positions;
  config.tied_output = false;  // tied and untrained, a model would repeat what it reads
  config.layer.initial_weights = nn::InitialWeights::kXavier;
  auto model = std::make_shared<models::DecoderOnly>(config);
  model->parameters().allocate();
  model->parameters().initialize(seed);
  for (float& value : model->parameters().mutable_values().span<float>()) {
    value *= 2.0F;
  }
  model->parameters().pack_weights();
  return model;
}

}  // namespace dragoman::decoding
