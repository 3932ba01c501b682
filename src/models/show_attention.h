#pragma once

#include <string_view>

#include "nn/context.h"
#include "ops/source_attention.h"

namespace dragoman::models {

/// Shows the weights [N, longest source] of an attention to the source to an observer, sentence by sentence, as one
/// head. Does nothing without an observer.
/// @param offsets  [B + 1] of the target
void show_attention(std::string_view path, const tensor::Tensor& attention, const tensor::Tensor& offsets,
                    const ops::SourceMemory& memory, const nn::ForwardContext& context);

}  // namespace dragoman::models
