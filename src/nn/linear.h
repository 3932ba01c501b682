#pragma once

#include <string>

#include "nn/layer_config.h"
#include "nn/parameters.h"
#include "ops/linear.h"

namespace dragoman::nn {

/// Computes y = x W + b with x [N, d_in], W [d_in, d_out], b [d_out]. The parameters are PATH.weight and PATH.bias,
/// which LinearOptions may leave out.
class Linear {
 public:
  Linear(ParameterSet& parameters, const std::string& path, int64_t d_in, int64_t d_out, LinearOptions options = {});
  /// @return [N, d_out]
  Variable forward(const Variable& input) const;
  /// Computes activation(forward(input)), in one pass in inference. @return [N, d_out]
  Variable forward(const Variable& input, kernels::Activation activation) const;
  /// Returns: the parameters, for several maps of the same input (ops::linear_each).
  ops::LinearMap map() const { return {weight_->weight(), bias()}; }

 private:
  Variable bias() const { return bias_ == nullptr ? Variable() : bias_->bias(); }

  ParameterHandle weight_;
  ParameterHandle bias_;  // null when there is none
};

}  // namespace dragoman::nn
