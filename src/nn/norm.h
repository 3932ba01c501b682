#pragma once

#include <string>

#include "nn/layer_config.h"
#include "nn/parameters.h"

namespace dragoman::nn {

/// Normalises over the last axis, as LayerOptions::norm says:
///   LayerNorm  gain * (x - mean) / sqrt(variance + epsilon) + bias   (Ba et al. 2016, eq. (4))
///   RMSNorm    gain * x / sqrt(mean(x^2) + epsilon)                  (Zhang and Sennrich 2019, eq. (4))
/// The parameters are PATH.gain [D] and, for a layer norm with Biases::kAll, PATH.bias [D]. The papers name no epsilon;
/// LayerConfig::layer_norm_epsilon sets it.
class Norm {
 public:
  Norm(ParameterSet& parameters, const std::string& path, const LayerConfig& config);
  /// @return [N, D]
  Variable forward(const Variable& input) const;
  /// Computes forward(x + dropout(sublayer)) in one pass. @return [N, D]
  Variable forward_sum(const Variable& x, const Variable& sublayer, const kernels::Dropout& dropout) const;

 private:
  Variable bias() const;  // undefined for none

  kernels::NormKind kind_;
  ParameterHandle gain_;
  ParameterHandle bias_;  // null when there is none
  float epsilon_;
};

}  // namespace dragoman::nn
