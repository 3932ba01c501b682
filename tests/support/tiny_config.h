#pragma once

#include <cstdint>

#include "models/transformer/transformer_config.h"

namespace dragoman::test_support {

/// The configuration of a Transformer that is small enough for tests: 2 + 2 layers, d_model 32, 4 heads.
/// A test changes the fields that it is about.
inline models::TransformerConfig tiny_config(int64_t vocab_size = 50) {
  models::TransformerConfig config;
  config.source_vocab_size = vocab_size;
  config.target_vocab_size = vocab_size;
  config.d_model = 32;
  config.d_ff = 64;
  config.n_heads = 4;
  config.encoder_layers = 2;
  config.decoder_layers = 2;
  return config;
}

}  // namespace dragoman::test_support
