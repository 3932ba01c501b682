#pragma once

#include <string>

#include "nn/context.h"
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
  /// @param x  [N, D] of ragged rows;  @param last  null, or overwritten;  @return h [N, H]; see ops::recurrent_layer.
  ///   An observer that wants kept values is shown those of `show`
  Variable forward(const Variable& x, const Tensor& offsets, const ops::RecurrentState& initial,
                   const ForwardContext& context, ops::Direction direction = ops::Direction::kForward,
                   ops::LastState* last = nullptr) const;
  /// Returns: x W + b [N, G*H], for layers that attend between their steps.
  Variable gates(const Variable& x) const { return input_.forward(x); }
  ops::RecurrentWeights weights() const { return {cell_, state_weight_->weight(), state_bias_->variable}; }
  /// Shows what the cells computed: read, input_sums, state_sums, fed, fed_sums, gates, before, state, cell_before,
  /// cell.
  /// @param x  [N, D], what the layer read;  @param sums  gates(x)
  void show(const Variable& x, const Variable& sums, const ops::LayerValues& values,
            const ForwardContext& context) const;

 private:
  kernels::CellKind cell_;
  std::string path_;
  Linear input_;
  ParameterHandle state_weight_;
  ParameterHandle state_bias_;
};

}  // namespace dragoman::nn
