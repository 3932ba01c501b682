#include "nn/ssru.h"

#include "ops/activation.h"
#include "ops/elementwise.h"

namespace dragoman::nn {
namespace {

LinearOptions without_bias(LinearOptions map) {
  map.has_bias = false;
  return map;
}

}  // namespace

Ssru::Ssru(ParameterSet& parameters, const std::string& path, const LayerConfig& config)
    : forget_(parameters, path + ".forget", config.d_model, config.d_model, config.inner_map()),
      input_(parameters, path + ".input", config.d_model, config.d_model, without_bias(config.inner_map())),
      path_(path) {}

Variable Ssru::forward(const Variable& x, RunningMean& mean, const ForwardContext& context) const {
  const ops::LinearMap maps[] = {forget_.map(), input_.map()};
  const std::vector<Variable> mapped = ops::linear_each(x, maps);                                   // [N, D] each
  const Variable forget = ops::activation(ops::widened(mapped[0]), kernels::Activation::kSigmoid);  // [N, D]
  const Variable input = ops::widened(mapped[1]);                                                   // [N, D]
  const Variable state = mean.scan(input, forget);                                                  // [N, D]
  context.show(path_, "forget", forget.value());
  context.show(path_, "mapped_input", input.value());  // "input" is that of the residual around it
  context.show(path_, "state", state.value());
  return ops::activation(state, kernels::Activation::kRelu);  // [N, D]
}

}  // namespace dragoman::nn
