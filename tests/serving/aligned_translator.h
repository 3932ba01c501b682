#pragma once

#include "decoding/tiny_convolutional.h"
#include "decoding/tiny_recurrent.h"
#include "decoding/tiny_vocabulary.h"
#include "decoding/translator.h"

namespace dragoman::serving {

/// Returns a translator between words of tests/decoding/tiny_vocabulary.h.
inline decoding::Translator translator_of(std::shared_ptr<models::Model> model) {
  model->parameters().pack_weights();
  return {std::move(model), decoding::vocabulary(), decoding::vocabulary()};
}

}  // namespace dragoman::serving
