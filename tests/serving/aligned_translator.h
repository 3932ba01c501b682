#pragma once

#include "decoding/tiny_recurrent.h"
#include "decoding/tiny_vocabulary.h"
#include "decoding/translator.h"
#include "models/convolutional/convolutional.h"

namespace dragoman::serving {

/// Returns a translator between words of tests/decoding/tiny_vocabulary.h.
inline decoding::Translator translator_of(std::shared_ptr<models::Model> model) {
  model->parameters().pack_weights();
  return {std::move(model), decoding::vocabulary(), decoding::vocabulary()};
}

/// Returns a random convolutional model.
inline std::shared_ptr<models::Model> tiny_convolutional() {
  models::ConvolutionalConfig config;
  config.source_vocab_size = config.target_vocab_size = decoding::vocabulary().size();
  config.encoder_layers = config.decoder_layers = 2;
  config.d_model = 12;
  config.d_hidden = 10;
  auto model = std::make_shared<models::Convolutional>(config);
  model->parameters().allocate();
  model->parameters().initialize(1);
  return model;
}

}  // namespace dragoman::serving
