#include "nn/linear.h"

#include <cmath>

#include "ops/linear.h"

namespace dragoman::nn {

Linear::Linear(ParameterSet& parameters, const std::string& path, int64_t d_in, int64_t d_out, LinearOptions options)
    : weight_(parameters.declare_weight(path + ".weight", {d_in, d_out},
                                        options.deviation > 0.0F ? Initializer::kNormal : Initializer::kXavierUniform)),
      bias_(options.has_bias ? parameters.declare(path + ".bias", {d_out}, Initializer::kZeros) : nullptr) {
  weight_->deviation = options.by_inputs ? options.deviation / std::sqrt(static_cast<float>(d_in)) : options.deviation;
}

Variable Linear::forward(const Variable& input) const {
  return ops::linear(input, weight_->weight(), bias());  // [N, d_out]
}

Variable Linear::forward(const Variable& input, kernels::Activation activation) const {
  return ops::linear_activation(input, weight_->weight(), bias(), activation);  // [N, d_out]
}

}  // namespace dragoman::nn
