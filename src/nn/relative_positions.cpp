#include "nn/relative_positions.h"

#include <cmath>

namespace dragoman::nn {

RelativePositions::RelativePositions(ParameterSet& parameters, const std::string& path, const LayerConfig& config,
                                     bool both_sides)
    : weight_(parameters.declare(path + ".weight", {config.options.relative_buckets, config.n_heads},
                                 Initializer::kNormal)),
      buckets_{config.options.relative_buckets, config.options.relative_distance, both_sides} {
  weight_->deviation = 1.0F / std::sqrt(static_cast<float>(config.d_model));
}

Tensor RelativePositions::of_last_row(int64_t length) const {
  return ops::bias_of_last_query(weight_->variable.value(), buckets_, length);
}

LayerConfig with_relative_positions(LayerConfig layer, PositionKind positions, ParameterSet& parameters,
                                    const std::string& path, bool both_sides) {
  if (positions == PositionKind::kRelative) {
    layer.relative = std::make_shared<const RelativePositions>(parameters, path, layer, both_sides);
  }
  return layer;
}

}  // namespace dragoman::nn
