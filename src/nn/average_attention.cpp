#include "nn/average_attention.h"

#include <algorithm>

#include "ops/activation.h"
#include "ops/columns.h"
#include "ops/elementwise.h"
#include "tensor/transfer.h"

namespace dragoman::nn {
namespace {

// The share of the mean that a row leaves to the rows before it: t of t + 1 rows, for each element of [N, D].
template <typename T>
Tensor share_of_past(const Tensor& positions, const Tensor& like) {
  Tensor shares = Tensor::empty(like.shape(), like.dtype());  // [N, D]
  tensor::HostEdit<T> edit(shares);
  auto to = edit.span().begin();
  for (const int32_t t : tensor::HostView<int32_t>(positions)) {
    to = std::fill_n(to, like.dim(1), static_cast<T>(t / (t + 1.0)));
  }
  return shares;
}

Variable running_average(const Variable& x, RunningMean& mean) {
  const bool is_wide = x.dtype() == tensor::DType::kFloat64;
  return mean.scan(x, Variable(is_wide ? share_of_past<double>(mean.positions(), x.value())
                                       : share_of_past<float>(mean.positions(), x.value())));  // [N, D]
}

}  // namespace

AverageAttention::AverageAttention(ParameterSet& parameters, const std::string& path, const LayerConfig& config)
    : feed_forward_(parameters, path + ".feed_forward", config),
      input_gate_(parameters, path + ".input_gate", 2 * config.d_model, config.d_model, config.inner_map()),
      forget_gate_(parameters, path + ".forget_gate", 2 * config.d_model, config.d_model, config.inner_map()),
      path_(path) {}

Variable AverageAttention::forward(const Variable& x, RunningMean& mean, const ForwardContext& context) const {
  const Variable average = running_average(x, mean);                                   // [N, D]
  const Variable transformed = ops::widened(feed_forward_.forward(average, context));  // [N, D]
  const ops::LinearMap maps[] = {input_gate_.map(), forget_gate_.map()};
  const std::vector<Variable> gates = ops::linear_each(ops::concatenate_columns(x, transformed), maps);  // [N, D] each
  const auto gated = [](const Variable& gate, const Variable& value) {
    return ops::gated_activation(ops::widened(gate), value, kernels::Activation::kSigmoid);  // [N, D]
  };
  context.show(path_, "state", average.value());
  context.show(path_, "transformed", transformed.value());
  context.show(path_, "input_gate", gates[0].value());
  context.show(path_, "forget_gate", gates[1].value());
  return ops::add(gated(gates[0], x), gated(gates[1], transformed));  // [N, D]
}

}  // namespace dragoman::nn
