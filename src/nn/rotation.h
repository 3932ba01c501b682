#pragma once

#include "nn/layer_config.h"
#include "nn/token_embedding.h"

namespace dragoman::nn {

/// Returns: the layer with the table of rotations that its options ask for, where positions are rotary; the layer as it
/// is otherwise. The layers of a stack share the table.
[[nodiscard]] LayerConfig with_rotation(LayerConfig layer, const PositionConfig& positions);

}  // namespace dragoman::nn
