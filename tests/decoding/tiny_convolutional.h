#pragma once

#include <memory>

#include "models/convolutional/convolutional.h"

namespace dragoman::decoding {

/// Returns: a random convolutional model, with two layers on each side.
inline std::shared_ptr<models::Convolutional> tiny_convolutional(int64_t vocab_size, bool weight_norm = false) {
  models::ConvolutionalConfig config;
  config.source_vocab_size = config.target_vocab_size = vocab_size;
  config.encoder_layers = config.decoder_layers = 2;
  config.d_model = 12;
  config.d_hidden = 10;
  config.weight_norm = weight_norm;
  auto model = std::make_shared<models::Convolutional>(config);
  model->parameters().allocate();
  model->parameters().initialize(1);
  return model;
}

}  // namespace dragoman::decoding
