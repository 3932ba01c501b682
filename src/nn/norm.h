#pragma once

#include <string>

#include "nn/context.h"
#include "nn/layer_config.h"
#include "nn/parameters.h"

namespace dragoman::nn {

/// Normalises as LayerOptions::norm says:
///   LayerNorm  gain * (x - mean) / sqrt(variance + epsilon) + bias   (Ba et al. 2016, eq. (4))
///   RMSNorm    gain * x / sqrt(mean(x^2) + epsilon)                  (Zhang and Sennrich 2019, eq. (4))
///   BatchNorm  the first formula for each column, over the rows of all sentences of a batch (Ioffe and Szegedy 2015)
/// The parameters are PATH.gain [D] and, unless it is an RMSNorm, with Biases::kAll, PATH.bias [D]. A batch norm also
/// has PATH.running_mean and PATH.running_variance [D], which get no gradient. In training it moves them a tenth of the
/// way to the statistics of each batch, and it uses them otherwise, unless ForwardContext::batch_moments is set. The
/// papers name no epsilon; LayerConfig::layer_norm_epsilon sets it.
class Norm {
 public:
  Norm(ParameterSet& parameters, const std::string& path, const LayerConfig& config);
  /// @return [N, D]
  Variable forward(const Variable& input, const ForwardContext& context = {}) const;
  /// Computes forward(x + dropout(sublayer)) in one pass. @return [N, D]
  Variable forward_sum(const Variable& x, const Variable& sublayer, const kernels::Dropout& dropout,
                       const ForwardContext& context = {}) const;

 private:
  Variable bias() const;  // undefined for none
  Variable over_batch(const Variable& input, const ForwardContext& context) const;

  kernels::NormKind kind_;
  ParameterHandle gain_;
  ParameterHandle bias_;                             // null when there is none
  ParameterHandle running_mean_, running_variance_;  // null unless it is a batch norm
  float epsilon_;
};

}  // namespace dragoman::nn
