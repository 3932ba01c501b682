#include "nn/average_attention.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "ops/activation.h"
#include "ops/columns.h"
#include "ops/elementwise.h"
#include "ops/embedding.h"
#include "tensor/transfer.h"

namespace dragoman::nn {
namespace {

// t / (t + 1) for each of some t, in all columns of a row.
template <typename T>
Tensor shares_of(std::span<const int32_t> times, const Tensor& like) {
  const tensor::HostScope scope;
  Tensor shares = Tensor::empty({static_cast<int64_t>(times.size()), like.dim(1)}, like.dtype());
  tensor::HostEdit<T> edit(shares);
  auto to = edit.span().begin();
  for (const int32_t t : times) {
    to = std::fill_n(to, like.dim(1), static_cast<T>(t / (t + 1.0)));
  }
  return shares;
}

// The share of the mean that a row leaves to the rows before it: t of t + 1 rows, for each element of [N, D].
template <typename T>
Variable share_of_past(const Tensor& positions, const Tensor& like) {
  const tensor::HostView<int32_t> times(positions);
  if (like.device().is_host()) {
    return Variable(shares_of<T>(times, like));
  }
  std::vector<int32_t> all(times.size() == 0 ? 0 : static_cast<size_t>(std::ranges::max(times.span())) + 1);
  std::iota(all.begin(), all.end(), 0);
  const Variable table(tensor::to_current_device(shares_of<T>(all, like)));  // [longest, D]
  return ops::select_rows(table, positions);
}

Variable running_average(const Variable& x, RunningMean& mean) {
  const bool is_wide = x.dtype() == tensor::DType::kFloat64;
  return mean.scan(x, is_wide ? share_of_past<double>(mean.positions(), x.value())
                              : share_of_past<float>(mean.positions(), x.value()));  // [N, D]
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
