#pragma once

#include "models/recurrent/recurrent_config.h"

namespace dragoman::test_support {

/// A shape of recurrent models that tests go through.
struct RecurrentShape {
  const char* name;
  kernels::CellKind cell;
  models::RecurrentAttention attention;
  bool input_feeding;
  int layers;
};

/// Returns: the configuration of a shape with both vocabularies of one size.
inline models::RecurrentConfig recurrent_config(const RecurrentShape& shape, int64_t vocab_size, int64_t d_model,
                                                int64_t d_hidden) {
  models::RecurrentConfig config;
  config.source_vocab_size = config.target_vocab_size = vocab_size;
  config.cell = shape.cell;
  config.attention = shape.attention;
  config.input_feeding = shape.input_feeding;
  config.layers = shape.layers;
  config.d_model = d_model;
  config.d_hidden = d_hidden;
  return config;
}

}  // namespace dragoman::test_support
