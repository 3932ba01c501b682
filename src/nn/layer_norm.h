#pragma once

#include <string>

#include "nn/parameters.h"

namespace dragoman::nn {

/// Normalises over the last axis: gain * (x - mean) / sqrt(variance + epsilon) + bias.
/// The parameters are PATH.gain [D] and PATH.bias [D]. The paper names no epsilon; LayerConfig::layer_norm_epsilon sets
/// it. Source: Ba et al. 2016, eq. (4).
class LayerNorm {
 public:
  LayerNorm(ParameterSet& parameters, const std::string& path, int64_t d_model, float epsilon);
  /// @return [N, D]
  Variable forward(const Variable& input) const;
  const Variable& gain() const { return gain_->variable; }
  const Variable& bias() const { return bias_->variable; }
  float epsilon() const { return epsilon_; }

 private:
  ParameterHandle gain_;
  ParameterHandle bias_;
  float epsilon_;
};

}  // namespace dragoman::nn
