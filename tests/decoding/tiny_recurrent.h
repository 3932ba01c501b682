#pragma once

#include <memory>
#include <string>
#include <vector>

#include "models/recurrent/recurrent.h"
#include "support/recurrent_shape.h"

namespace dragoman::decoding {

using test_support::RecurrentShape;

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
  auto model = std::make_shared<models::Recurrent>(test_support::recurrent_config(shape, vocab_size, 12, 10));
  model->parameters().allocate();
  model->parameters().initialize(seed);
  for (float& value : model->parameters().mutable_values().span<float>()) {
    value *= 2.0F;
  }
  return model;
}

}  // namespace dragoman::decoding
