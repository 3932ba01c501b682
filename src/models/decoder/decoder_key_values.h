#pragma once

#include <cstddef>

#include "nn/multi_head_attention.h"

namespace dragoman::models {

/// What the decoder attends to, one pair per layer: whole sequences in training, caches in decoding.
class DecoderKeyValues {
 public:
  virtual ~DecoderKeyValues() = default;
  virtual nn::KeyValueSource& self_attention(size_t layer) = 0;
  virtual nn::KeyValueSource& cross_attention(size_t layer) = 0;
};

}  // namespace dragoman::models
