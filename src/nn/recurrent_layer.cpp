#include "nn/recurrent_layer.h"

namespace dragoman::nn {

RecurrentLayer::RecurrentLayer(ParameterSet& parameters, const std::string& path, kernels::CellKind cell, int64_t d_in,
                               int64_t d_hidden)
    : cell_(cell),
      input_(parameters, path + ".input", d_in, kernels::gates_of(cell) * d_hidden),
      state_weight_(parameters.declare_weight(path + ".state.weight", {d_hidden, kernels::gates_of(cell) * d_hidden},
                                              Initializer::kXavierUniform)),
      state_bias_(
          parameters.declare(path + ".state.bias", {kernels::gates_of(cell) * d_hidden},
                             cell == kernels::CellKind::kLstm ? Initializer::kForgetOne : Initializer::kZeros)) {}

}  // namespace dragoman::nn
