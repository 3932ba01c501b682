#include "nn/recurrent_layer.h"

namespace dragoman::nn {

RecurrentLayer::RecurrentLayer(ParameterSet& parameters, const std::string& path, kernels::CellKind cell, int64_t d_in,
                               int64_t d_hidden)
    : cell_(cell),
      path_(path),
      input_(parameters, path + ".input", d_in, kernels::gates_of(cell) * d_hidden),
      state_weight_(parameters.declare_weight(path + ".state.weight", {d_hidden, kernels::gates_of(cell) * d_hidden},
                                              Initializer::kXavierUniform)),
      state_bias_(
          parameters.declare(path + ".state.bias", {kernels::gates_of(cell) * d_hidden},
                             cell == kernels::CellKind::kLstm ? Initializer::kForgetOne : Initializer::kZeros)) {}

Variable RecurrentLayer::forward(const Variable& x, const Tensor& offsets, const ops::RecurrentState& initial,
                                 const ForwardContext& context, ops::Direction direction, ops::LastState* last) const {
  const Variable sums = gates(x);  // [N, G*H]
  ops::LayerValues values;
  const ops::LayerExtras extras{.last = last, .values = context.keeps_values() ? &values : nullptr};
  const Variable h = ops::recurrent_layer(sums, offsets, weights(), initial, direction, extras);  // [N, H]
  if (context.keeps_values()) {
    show(x, sums, values, context);
  }
  return h;
}

void RecurrentLayer::show(const Variable& x, const Variable& sums, const ops::LayerValues& values,
                          const ForwardContext& context) const {
  const ops::CellValues& cells = values.cells;
  const std::pair<const char*, const Tensor&> shown[] = {
      {"read", x.value()},      {"input_sums", sums.value()}, {"state_sums", cells.state_sums},
      {"fed", values.fed},      {"fed_sums", cells.fed_sums}, {"gates", cells.gates},
      {"before", cells.before}, {"state", cells.state},       {"cell_before", cells.cell_before},
      {"cell", cells.cell}};
  for (const auto& [name, value] : shown) {
    if (value.defined()) {
      context.show(path_, name, value);
    }
  }
}

}  // namespace dragoman::nn
