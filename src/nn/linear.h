#pragma once

#include <string>

#include "nn/parameters.h"
#include "ops/linear.h"

namespace dragoman::nn {

/// y = x W + b, x [N, d_in], W [d_in, d_out], b [d_out]. Parameters PATH.weight, PATH.bias.
class Linear {
 public:
  Linear(ParameterSet& parameters, const std::string& path, int64_t d_in, int64_t d_out);
  /// @return [N, d_out]
  Variable forward(const Variable& input) const;
  /// activation(forward(input)), in one pass in inference
  Variable forward(const Variable& input, kernels::Activation activation) const;
  /// For several maps of the same input (ops::linear_each).
  ops::LinearMap map() const { return {weight_->weight(), bias_->variable}; }

 private:
  ParameterHandle weight_;
  ParameterHandle bias_;
};

}  // namespace dragoman::nn
