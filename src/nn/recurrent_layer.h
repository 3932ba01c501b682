#pragma once

#include <string>

#include "nn/linear.h"
#include "ops/recurrent.h"

namespace dragoman::nn {

/// A recurrent layer:  h_t = cell(x_t W + b, h_{t-1} U + c). The parameters are PATH.input.weight [D, G*H] and
/// PATH.input.bias, PATH.state.weight [H, G*H] and PATH.state.bias. They are those of torch.nn.GRU and torch.nn.LSTM,
/// transposed. The forget gate of an LSTM starts with a bias of 1 (Jozefowicz et al. 2015).
class RecurrentLayer {
 public:
  RecurrentLayer(ParameterSet& parameters, const std::string& path, kernels::CellKind cell, int64_t d_in,
                 int64_t d_hidden);
  /// @param x  [N, D] of ragged rows;  @return h [N, H]; see ops::recurrent_layer
  Variable forward(const Variable& x, const Tensor& offsets, const ops::RecurrentState& initial,
                   ops::Direction direction = ops::Direction::kForward, ops::LastState* last = nullptr) const {
    return ops::recurrent_layer(gates(x), offsets, weights(), initial, direction, last);
  }
  /// Returns: x W + b [N, G*H], for layers that attend between their steps.
  Variable gates(const Variable& x) const { return input_.forward(x); }
  ops::RecurrentWeights weights() const { return {cell_, state_weight_->weight(), state_bias_->variable}; }

 private:
  kernels::CellKind cell_;
  Linear input_;
  ParameterHandle state_weight_;
  ParameterHandle state_bias_;
};

}  // namespace dragoman::nn
