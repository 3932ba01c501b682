#include "nn/feed_forward.h"

#include <algorithm>

namespace dragoman::nn {
namespace {

constexpr int64_t kRowsAtOnce = 128;

}  // namespace

FeedForward::FeedForward(ParameterSet& parameters, const std::string& path, const LayerConfig& config)
    : gate_(config.options.feed_forward == FeedForwardKind::kGated
                ? std::optional<Linear>(std::in_place, parameters, path + ".gate", config.d_model, config.d_ff,
                                        config.inner_map())
                : std::nullopt),
      inner_(parameters, path + ".inner", config.d_model, config.d_ff, config.inner_map()),
      outer_(parameters, path + ".outer", config.d_ff, config.d_model, config.outer_map()),
      activation_(config.activation),
      dropout_(config.activation_dropout),
      path_(path),
      site_(dropout_site(path + ".activation")) {}

Variable FeedForward::gated(const Variable& x, const ForwardContext& context) const {
  const ops::LinearMap maps[] = {gate_->map(), inner_.map()};
  const std::vector<Variable> both = ops::linear_each(x, maps);  // [N, F] each
  const Variable active =
      ops::gated_activation(both[0], both[1], activation_, context.dropout(dropout_, site_));  // [N, F]
  context.show(path_, "gate", both[0].value());
  context.show(path_, "hidden", both[1].value());
  context.show(path_, "active", active.value());
  return outer_.forward(active);  // [N, D]
}

Variable FeedForward::forward(const Variable& x, const ForwardContext& context) const {
  if (gate_) {
    return gated(x, context);
  }
  const kernels::Dropout dropout = context.dropout(dropout_, site_);
  if (dropout.probability > 0.0F || context.observer != nullptr) {
    const Variable hidden = inner_.forward(x);                                      // [N, F]
    const Variable active = ops::activation_dropout(hidden, activation_, dropout);  // [N, F]
    context.show(path_, "hidden", hidden.value());
    context.show(path_, "active", active.value());
    return outer_.forward(active);  // [N, D]
  }
  const bool cached = x.value().device().is_host() && x.dim(0) > kRowsAtOnce;  // a GPU takes all rows at once
  if (cached && autograd::Tape::active() == nullptr) {
    return forward_in_parts(x);
  }
  return outer_.forward(inner_.forward(x, activation_));  // [N, D]
}

// Inference: the hidden [N, F] is not kept, so that a few of its rows at a time stay in the second-level cache.
Variable FeedForward::forward_in_parts(const Variable& x) const {
  Tensor y = Tensor::empty(x.shape(), x.dtype());  // [N, D]
  for (int64_t row = 0; row < x.dim(0); row += kRowsAtOnce) {
    const int64_t end = std::min(x.dim(0), row + kRowsAtOnce);
    const Variable hidden = inner_.forward(Variable(x.value().rows(row, end)), activation_);  // [rows, F]
    y.rows(row, end).copy_from(outer_.forward(hidden).value());
  }
  return Variable(y);
}

}  // namespace dragoman::nn
