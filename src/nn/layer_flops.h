#pragma once

#include "nn/layer_config.h"

namespace dragoman::nn {

/// Operations of a layer's products in a forward, a multiplication and an addition as two.
struct LayerFlops {
  double maps = 0.0;          ///< of a row: its query, key, value and the output map
  double feed_forward = 0.0;  ///< of a row
  double pair = 0.0;          ///< of a row that attends to one other, in all heads
};

inline LayerFlops flops_of(const LayerConfig& layer) {
  const auto d = static_cast<double>(layer.d_model), f = static_cast<double>(layer.d_ff);
  const auto width = static_cast<double>(layer.key_width() + layer.head_width());
  const double heads = layer.n_heads * width, kv_heads = layer.kv_heads() * width;
  const bool is_gated = layer.options.feed_forward == FeedForwardKind::kGated;
  return {2 * d * (heads + kv_heads), (is_gated ? 6 : 4) * d * f, 2 * heads};
}

}  // namespace dragoman::nn
