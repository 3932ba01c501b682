#include "nn/rotation.h"

#include "base/error.h"
#include "ops/rotation.h"

namespace dragoman::nn {

LayerConfig with_rotation(LayerConfig layer, const PositionConfig& positions) {
  if (positions.kind == PositionKind::kRotary) {
    const LayerOptions& options = layer.options;
    layer.rotation = ops::rotation_table(positions.max_positions, layer.key_width(), options.rope_theta,
                                         {options.rope_scaling, options.rope_factor, options.rope_low_frequency,
                                          options.rope_high_frequency, options.rope_trained_length});  // [P, Dk]
  }
  return layer;
}

void check_key_width(const LayerConfig& layer, PositionKind positions) {
  base::check_usage(layer.key_width() <= layer.head_width(), "d_key is {}, must be at most the width of a head, {}",
                    layer.key_width(), layer.head_width());
  base::check_usage(positions != PositionKind::kRotary || layer.key_width() % 2 == 0,
                    "{} is {}, must be even for rotary positions", layer.options.d_key > 0 ? "d_key" : "d_head",
                    layer.key_width());
}

}  // namespace dragoman::nn
