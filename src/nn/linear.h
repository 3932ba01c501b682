#pragma once

#include <string>

#include "nn/layer_config.h"
#include "nn/parameters.h"
#include "ops/linear.h"

namespace dragoman::nn {

/// Computes y = x W + b with x [N, d_in], W [d_in, d_out], b [d_out]. The parameters are PATH.weight and PATH.bias,
/// which LinearOptions may leave out. With weight normalisation (LinearOptions::normed) the columns of PATH.weight are
/// directions and PATH.weight_gain [d_out] their lengths:  W_j = gain_j v_j / ||v_j||, see ops::weight_norm.
class Linear {
 public:
  Linear(ParameterSet& parameters, const std::string& path, int64_t d_in, int64_t d_out, LinearOptions options = {});
  /// @return [N, d_out]
  Variable forward(const Variable& input) const;
  /// Computes activation(forward(input)), in one pass in inference. @return [N, d_out]
  Variable forward(const Variable& input, kernels::Activation activation) const;
  /// Returns: the parameters, for several maps of the same input (ops::linear_each), whose results `completed` takes.
  ops::LinearMap map() const { return {weight_->weight(), gain_ == nullptr ? bias() : Variable()}; }
  /// Returns: forward(x) of a product with `map`, [N, d_out]. Without weight normalisation that is the product itself.
  Variable completed(const Variable& product) const;

 private:
  Variable bias() const { return bias_ == nullptr ? Variable() : bias_->bias(); }

  ParameterHandle weight_;
  ParameterHandle gain_;  // null without weight normalisation
  ParameterHandle bias_;  // null when there is none
};

}  // namespace dragoman::nn
