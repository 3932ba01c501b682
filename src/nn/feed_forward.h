#pragma once

#include <optional>
#include <string>

#include "nn/context.h"
#include "nn/layer_config.h"
#include "nn/linear.h"

namespace dragoman::nn {

/// Computes FFN(x) = activation(x W1 + b1) W2 + b2, or with a gate (activation(x Wg + bg) * (x W1 + b1)) W2 + b2. The
/// activation of the paper is ReLU; others can be chosen, and dropout may follow the activation. The parameters are
/// PATH.{inner,outer}.{weight,bias}, and PATH.gate.* with a gate.
/// Source: Vaswani et al. 2017, section 3.3, eq. (2); Shazeer 2020 (the gate).
class FeedForward {
 public:
  FeedForward(ParameterSet& parameters, const std::string& path, const LayerConfig& config);
  /// @param x [N, D];  @return [N, D]
  Variable forward(const Variable& x, const ForwardContext& context) const;

 private:
  Variable gated(const Variable& x, const ForwardContext& context) const;
  Variable forward_in_parts(const Variable& x) const;

  std::optional<Linear> gate_;
  Linear inner_;
  Linear outer_;
  kernels::Activation activation_;
  float dropout_;
  std::string path_;
  uint32_t site_;
};

}  // namespace dragoman::nn
