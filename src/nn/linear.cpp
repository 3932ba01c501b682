#include "nn/linear.h"

#include "ops/linear.h"

namespace dragoman::nn {

Linear::Linear(ParameterSet& parameters, const std::string& path, int64_t d_in, int64_t d_out)
    : weight_(parameters.declare_weight(path + ".weight", {d_in, d_out}, Initializer::kXavierUniform)),
      bias_(parameters.declare(path + ".bias", {d_out}, Initializer::kZeros)) {}

Variable Linear::forward(const Variable& input) const {
  return ops::linear(input, weight_->weight(), bias_->variable);  // [N, d_out]
}

Variable Linear::forward(const Variable& input, kernels::Activation activation) const {
  return ops::linear_activation(input, weight_->weight(), bias_->variable, activation);  // [N, d_out]
}

}  // namespace dragoman::nn
