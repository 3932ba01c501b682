#include "nn/linear.h"

#include "ops/linear.h"

namespace dragoman::nn {

Linear::Linear(ParameterSet& parameters, const std::string& path, int64_t d_in, int64_t d_out)
    : weight_(parameters.declare_weight(path + ".weight", {d_in, d_out}, Initializer::kXavierUniform)),
      bias_(parameters.declare(path + ".bias", {d_out}, Initializer::kZeros)) {}

Variable Linear::forward(const Variable& input) const {
  if (weight_->packed == nullptr || autograd::Tape::active() != nullptr) {
    return ops::linear(input, weight_->variable, bias_->variable);  // [N, d_out]
  }
  Tensor output = Tensor::empty({input.dim(0), weight_->shape[1]});  // [N, d_out]
  weight_->packed->multiply(input.value(), {bias_->variable.value(), ops::Activation::kNone}, output);
  return Variable(output);
}

}  // namespace dragoman::nn
