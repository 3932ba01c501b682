#pragma once

#include <span>
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
/// has PATH.running_mean and PATH.running_variance [D], which get no gradient. In training each forward on whole texts
/// with a backward moves them (BatchStatistics::keep), and it uses them otherwise, unless ForwardContext::batch_moments
/// is set. The papers name no epsilon; LayerConfig::layer_norm_epsilon sets it.
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

/// Moves running statistics [D] float32 a tenth of the way to those of a batch [D]:  running = 0.9 * running + 0.1 *
/// latest, as torch.nn.BatchNorm1d does. Values that are not finite move nothing.
void move_running(tensor::Tensor running, std::span<const double> latest);

}  // namespace dragoman::nn
