#include "nn/linear.h"

#include <cmath>

#include "ops/activation.h"
#include "ops/elementwise.h"
#include "ops/linear.h"
#include "ops/weight_norm.h"

namespace dragoman::nn {

Linear::Linear(ParameterSet& parameters, const std::string& path, int64_t d_in, int64_t d_out, LinearOptions options)
    : weight_(parameters.declare_weight(path + ".weight", {d_in, d_out},
                                        options.deviation > 0.0F ? Initializer::kNormal : Initializer::kXavierUniform)),
      gain_(options.normed ? parameters.declare(path + ".weight_gain", {d_out}, Initializer::kColumnNorms) : nullptr),
      bias_(options.has_bias ? parameters.declare(path + ".bias", {d_out}, Initializer::kZeros) : nullptr) {
  weight_->deviation = options.by_inputs ? options.deviation / std::sqrt(static_cast<float>(d_in)) : options.deviation;
  weight_->is_normed = options.normed;
}

Variable Linear::completed(const Variable& product) const {
  if (gain_ == nullptr) {
    return product;
  }
  return ops::weight_norm(ops::widened(product), {weight_->variable, gain_->variable, weight_->column_norms}, bias());
}

Variable Linear::forward(const Variable& input) const {
  const ops::LinearMap all = map();
  return completed(ops::linear(input, all.weight, all.bias));  // [N, d_out]
}

Variable Linear::forward(const Variable& input, kernels::Activation activation) const {
  if (gain_ != nullptr) {
    return ops::activation(forward(input), activation);
  }
  return ops::linear_activation(input, weight_->weight(), bias(), activation);  // [N, d_out]
}

}  // namespace dragoman::nn
