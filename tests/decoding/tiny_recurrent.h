#pragma once

#include <memory>
#include <string>
#include <vector>

#include "models/recurrent/recurrent.h"

namespace dragoman::decoding {

/// A shape of recurrent models that tests go through.
struct RecurrentShape {
  const char* name;
  kernels::CellKind cell;
  models::RecurrentAttention attention;
  bool input_feeding;
  int layers;
};

inline constexpr RecurrentShape kRecurrentShapes[] = {
    {"gru", kernels::CellKind::kGru, models::RecurrentAttention::kNone, false, 1},
    {"lstm_2", kernels::CellKind::kLstm, models::RecurrentAttention::kNone, false, 2},
    {"gru_bahdanau", kernels::CellKind::kGru, models::RecurrentAttention::kBahdanau, false, 1},
    {"lstm_bahdanau_2", kernels::CellKind::kLstm, models::RecurrentAttention::kBahdanau, false, 2},
    {"gru_luong_3", kernels::CellKind::kGru, models::RecurrentAttention::kLuong, false, 3},
    {"lstm_feeding", kernels::CellKind::kLstm, models::RecurrentAttention::kLuong, true, 1},
    {"gru_feeding_2", kernels::CellKind::kGru, models::RecurrentAttention::kLuong, true, 2}};

/// Returns: a random model with large weights, so that gates and attention are far from even.
inline std::shared_ptr<models::Recurrent> tiny_recurrent(const RecurrentShape& shape, int64_t vocab_size,
                                                         uint64_t seed = 1) {
  models::RecurrentConfig config;
  config.source_vocab_size = config.target_vocab_size = vocab_size;
  config.cell = shape.cell;
  config.attention = shape.attention;
  config.input_feeding = shape.input_feeding;
  config.layers = shape.layers;
  config.d_model = 12;
  config.d_hidden = 10;
  auto model = std::make_shared<models::Recurrent>(config);
  model->parameters().allocate();
  model->parameters().initialize(seed);
  for (float& value : model->parameters().mutable_values().span<float>()) {
    value *= 2.0F;
  }
  return model;
}

}  // namespace dragoman::decoding
