#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "data/encoder_input.h"
#include "tensor/device.h"

namespace dragoman::decoding {

/// The numbers of some texts that go through an encoder together.
using TextBatch = std::vector<size_t>;

/// Returns batches of at most `batch_tokens`, a longer text alone. If the texts are few, batches are smaller, so that
/// each worker has some. Texts of like length stand together, the longest first, so that the end of the work is even.
/// @param batch_tokens  0 = as many as are fast on the device: 512 on a CPU, where rows stay in the cache, 8192 on a
/// GPU
/// @param workers  as worker_count takes them
std::vector<TextBatch> batches_of_texts(std::span<const size_t> lengths, int64_t batch_tokens, int workers,
                                        tensor::Device device);

/// Returns the inputs of a batch, in its order.
std::vector<const data::EncoderInput*> batch_of(const std::vector<data::EncoderInput>& inputs, const TextBatch& batch);

}  // namespace dragoman::decoding
