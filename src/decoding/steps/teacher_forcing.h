#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "models/model.h"

namespace dragoman::decoding {

/// The decoder's input when it is fed the right words: begin of sentence, then `predicted` but its last, [T].
/// Requires: `predicted` is not empty.
std::vector<int32_t> teacher_forced_input(std::span<const int32_t> predicted);

/// Runs a model once over one sentence pair, without dropout and gradients, for what `observer` sees of it.
/// @param source  [S] ids, the end included; empty for a language model;  @param input  [T] ids, begin of sentence
/// first
void observe_pair(const models::Model& model, std::span<const int32_t> source, std::span<const int32_t> input,
                  nn::ForwardObserver& observer);

/// Returns: attention weights [H, T, S] averaged over the heads, [T, S].
std::vector<float> mean_of_heads(const tensor::Tensor& weights);

}  // namespace dragoman::decoding
