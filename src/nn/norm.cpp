#include "nn/norm.h"

#include <algorithm>
#include <cmath>

#include "ops/batch_norm.h"
#include "ops/layer_norm.h"
#include "ops/residual.h"
#include "tensor/transfer.h"

namespace dragoman::nn {
namespace {

bool has_bias(const LayerConfig& config) {
  return config.options.norm != kernels::NormKind::kRms && config.options.biases == Biases::kAll;
}

}  // namespace

void move_running(tensor::Tensor running, std::span<const double> latest) {
  constexpr double kMomentum = 0.1;
  if (!std::ranges::all_of(latest, [](double value) { return std::isfinite(value); })) {
    return;
  }
  tensor::HostEdit<float> edit(running);
  for (size_t c = 0; c < latest.size(); ++c) {
    float& value = edit.span()[c];
    value = static_cast<float>((1.0 - kMomentum) * static_cast<double>(value) + kMomentum * latest[c]);
  }
}

Norm::Norm(ParameterSet& parameters, const std::string& path, const LayerConfig& config)
    : kind_(config.options.norm),
      gain_(parameters.declare(path + ".gain", {config.d_model}, Initializer::kOnes)),
      bias_(has_bias(config) ? parameters.declare(path + ".bias", {config.d_model}, Initializer::kZeros) : nullptr),
      epsilon_(config.layer_norm_epsilon) {
  if (kind_ == kernels::NormKind::kBatch) {
    running_mean_ = parameters.declare(path + ".running_mean", {config.d_model}, Initializer::kZeros);
    running_variance_ = parameters.declare(path + ".running_variance", {config.d_model}, Initializer::kOnes);
    running_mean_->is_trained = running_variance_->is_trained = false;
  }
}

Variable Norm::over_batch(const Variable& input, const ForwardContext& context) const {
  if (!context.training && !context.batch_moments) {
    return ops::running_norm(input, gain_->variable, bias(), running_mean_->variable.value(),
                             running_variance_->variable.value(), epsilon_);  // [N, D]
  }
  ops::BatchNormOptions options{.epsilon = epsilon_, .zero_rows = context.zero_rows};
  if (BatchStatistics* statistics = context.statistics; statistics != nullptr) {
    options.sum_over_replicas = [statistics](std::span<double> values) { statistics->sum(values); };
    if (context.word_cut == 0.0F) {  // texts are translated whole
      options.keep = [statistics, mean = running_mean_,
                      variance = running_variance_](const ops::BatchMoments& moments) {
        statistics->keep(mean->variable.value(), moments.mean);
        statistics->keep(variance->variable.value(), moments.variance);
      };
    }
  }
  return ops::batch_norm(input, gain_->variable, bias(), options);  // [N, D]
}

Variable Norm::bias() const {
  return bias_ == nullptr ? Variable() : bias_->variable;
}

Variable Norm::forward(const Variable& input, const ForwardContext& context) const {
  if (kind_ == kernels::NormKind::kBatch) {
    return over_batch(input, context);
  }
  if (kind_ == kernels::NormKind::kRms) {
    return ops::rms_norm(input, gain_->variable, epsilon_);  // [N, D]
  }
  return ops::layer_norm(input, gain_->variable, bias(), epsilon_);  // [N, D]
}

Variable Norm::forward_sum(const Variable& x, const Variable& sublayer, const kernels::Dropout& dropout,
                           const ForwardContext& context) const {
  if (kind_ == kernels::NormKind::kBatch) {
    return over_batch(ops::residual_dropout(x, sublayer, dropout), context);
  }
  if (kind_ == kernels::NormKind::kRms) {
    return ops::residual_dropout_rms_norm(x, sublayer, gain_->variable, epsilon_, dropout);  // [N, D]
  }
  return ops::residual_dropout_layer_norm(x, sublayer, gain_->variable, bias(), epsilon_, dropout);  // [N, D]
}

}  // namespace dragoman::nn
