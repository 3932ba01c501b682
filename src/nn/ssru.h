#pragma once

#include <string>

#include "nn/context.h"
#include "nn/layer_config.h"
#include "nn/linear.h"
#include "nn/running_mean.h"

namespace dragoman::nn {

/// Computes a simpler simple recurrent unit, which stands in place of self-attention in a decoder:
///   f_t = sigmoid(x_t Wf + bf),   c_t = f_t * c_{t-1} + (1 - f_t) * (x_t W),   y_t = max(0, c_t),   c_0 = 0
/// The parameters are PATH.forget.weight and PATH.input.weight, [D, D], and with Biases::kAll PATH.forget.bias, [D].
/// All that a row knows of the rows before it is c_{t-1}, D numbers.
/// Source: Kim et al. 2019, "From Research to Production and Back: Ludicrously Fast Neural Machine Translation",
/// section 3.1.
class Ssru {
 public:
  Ssru(ParameterSet& parameters, const std::string& path, const LayerConfig& config);
  /// @param x [N, D];  @return [N, D]
  Variable forward(const Variable& x, RunningMean& mean, const ForwardContext& context) const;

 private:
  Linear forget_;
  Linear input_;
  std::string path_;
};

}  // namespace dragoman::nn
