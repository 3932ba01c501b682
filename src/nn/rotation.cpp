#include "nn/rotation.h"

#include "ops/rotation.h"

namespace dragoman::nn {

LayerConfig with_rotation(LayerConfig layer, const PositionConfig& positions) {
  if (positions.kind == PositionKind::kRotary) {
    const LayerOptions& options = layer.options;
    layer.rotation = ops::rotation_table(positions.max_positions, layer.head_width(), options.rope_theta,
                                         {options.rope_scaling, options.rope_factor, options.rope_low_frequency,
                                          options.rope_high_frequency, options.rope_trained_length});  // [P, Dh]
  }
  return layer;
}

}  // namespace dragoman::nn
