#pragma once

#include <string>

#include "nn/context.h"
#include "nn/layer_config.h"
#include "nn/linear.h"

namespace dragoman::nn {

/// Computes FFN(x) = activation(x W1 + b1) W2 + b2. The activation of the paper is ReLU; GELU and SiLU can be chosen,
/// and dropout may follow the activation. Source: Vaswani et al. 2017, section 3.3, eq. (2).
class FeedForward {
 public:
  FeedForward(ParameterSet& parameters, const std::string& path, const LayerConfig& config);
  /// @param x [N, D];  @return [N, D]
  Variable forward(const Variable& x, const ForwardContext& context) const;

 private:
  Variable forward_in_parts(const Variable& x) const;

  Linear inner_;
  Linear outer_;
  kernels::Activation activation_;
  float dropout_;
  std::string path_;
  uint32_t site_;
};

}  // namespace dragoman::nn
