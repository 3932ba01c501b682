#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/model.h"

namespace dragoman::decoding {

/// Returns: log p (nats) of the token that each row should predict.
/// @param hidden  [N, D] of models::Model::forward;  @param expected  N ids
std::vector<double> token_log_probs(const models::Model& model, const tensor::Tensor& hidden,
                                    std::span<const int32_t> expected);

}  // namespace dragoman::decoding
