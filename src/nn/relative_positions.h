#pragma once

#include <memory>
#include <string>

#include "nn/parameters.h"
#include "nn/token_embedding.h"
#include "ops/relative_positions.h"

namespace dragoman::nn {

/// The relative positions of one stack of layers: numbers that self-attention adds to its scaled products by the
/// distance of query and key, for each head. The layers of a stack share them.
/// The parameter is PATH.weight [relative_buckets, H]. Source: Raffel et al. 2020, section 2.1.
class RelativePositions {
 public:
  /// @param both_sides  false for causal attention
  RelativePositions(ParameterSet& parameters, const std::string& path, const LayerConfig& config, bool both_sides);

  /// Returns: what `ops::attention` adds.
  ops::RelativeBias bias() const { return {weight_->variable, buckets_}; }
  /// Returns: [H, length], what the latest of `length` rows adds to the products with each row.
  Tensor of_last_row(int64_t length) const;

 private:
  ParameterHandle weight_;
  ops::RelativeBuckets buckets_;
};

/// Returns: the layer with relative positions, whose parameter is declared here, where `positions` are relative; the
/// layer as it is otherwise.
[[nodiscard]] LayerConfig with_relative_positions(LayerConfig layer, PositionKind positions, ParameterSet& parameters,
                                                  const std::string& path, bool both_sides);

}  // namespace dragoman::nn
