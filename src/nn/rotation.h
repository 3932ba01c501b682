#pragma once

#include "nn/layer_config.h"
#include "nn/token_embedding.h"

namespace dragoman::nn {

/// Returns: the layer with the table of rotations that its options ask for, where positions are rotary; the layer as it
/// is otherwise. The layers of a stack share the table.
[[nodiscard]] LayerConfig with_rotation(LayerConfig layer, const PositionConfig& positions);

/// Throws: Error(kUsage) for keys that are wider than their head, "d_key is 32, must be at most the width of a head,
/// 16", and for rotary positions of keys whose width is odd: "d_head is 7, must be even for rotary positions".
void check_key_width(const LayerConfig& layer, PositionKind positions);

}  // namespace dragoman::nn
