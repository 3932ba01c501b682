#include "nn/layer_norm.h"

#include "ops/layer_norm.h"

namespace dragoman::nn {

LayerNorm::LayerNorm(ParameterSet& parameters, const std::string& path, int64_t d_model, float epsilon)
    : gain_(parameters.declare(path + ".gain", {d_model}, Initializer::kOnes)),
      bias_(parameters.declare(path + ".bias", {d_model}, Initializer::kZeros)),
      epsilon_(epsilon) {}

Variable LayerNorm::forward(const Variable& input) const {
  return ops::layer_norm(input, gain(), bias(), epsilon_);
}

}  // namespace dragoman::nn
