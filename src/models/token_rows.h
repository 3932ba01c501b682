#pragma once

#include <cstdint>
#include <span>

#include "nn/context.h"
#include "tensor/tensor.h"

namespace dragoman::models {

using tensor::Tensor;

/// One side of a ragged batch as tensors. No padding: sentence b is rows offsets[b] .. offsets[b + 1].
struct TokenRows {
  Tensor ids;           ///< [N] int32
  nn::RaggedRows rows;  ///< offsets [B + 1], positions [N]
};

/// Builds TokenRows from ids and offsets; positions count from 0 in each sentence.
TokenRows make_token_rows(std::span<const int32_t> ids, std::span<const int32_t> offsets, int64_t first_row = 0);

/// TokenRows of a batch of one sentence.
TokenRows one_sentence(std::span<const int32_t> ids);

}  // namespace dragoman::models
