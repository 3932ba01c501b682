#pragma once

#include <cstddef>

#include "nn/decoder_layer.h"

namespace dragoman::models {

/// Where the layers of a decoder find the rows before a row, and the source: whole sentences in training, what was kept
/// of earlier steps in decoding.
class DecoderSources {
 public:
  virtual ~DecoderSources() = default;
  virtual nn::PastSource past(size_t layer) = 0;
  virtual nn::KeyValueSource& cross_attention(size_t layer) = 0;
};

}  // namespace dragoman::models
