#include "nn/norm.h"

#include "ops/layer_norm.h"
#include "ops/residual.h"

namespace dragoman::nn {
namespace {

bool has_bias(const LayerConfig& config) {
  return config.options.norm == kernels::NormKind::kLayer && config.options.biases == Biases::kAll;
}

}  // namespace

Norm::Norm(ParameterSet& parameters, const std::string& path, const LayerConfig& config)
    : kind_(config.options.norm),
      gain_(parameters.declare(path + ".gain", {config.d_model}, Initializer::kOnes)),
      bias_(has_bias(config) ? parameters.declare(path + ".bias", {config.d_model}, Initializer::kZeros) : nullptr),
      epsilon_(config.layer_norm_epsilon) {}

Variable Norm::bias() const {
  return bias_ == nullptr ? Variable() : bias_->variable;
}

Variable Norm::forward(const Variable& input) const {
  if (kind_ == kernels::NormKind::kRms) {
    return ops::rms_norm(input, gain_->variable, epsilon_);  // [N, D]
  }
  return ops::layer_norm(input, gain_->variable, bias(), epsilon_);  // [N, D]
}

Variable Norm::forward_sum(const Variable& x, const Variable& sublayer, const kernels::Dropout& dropout) const {
  if (kind_ == kernels::NormKind::kRms) {
    return ops::residual_dropout_rms_norm(x, sublayer, gain_->variable, epsilon_, dropout);  // [N, D]
  }
  return ops::residual_dropout_layer_norm(x, sublayer, gain_->variable, bias(), epsilon_, dropout);  // [N, D]
}

}  // namespace dragoman::nn
