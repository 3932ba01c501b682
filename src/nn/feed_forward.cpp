#include "nn/feed_forward.h"

namespace dragoman::nn {

FeedForward::FeedForward(ParameterSet& parameters, const std::string& path, const LayerConfig& config)
    : inner_(parameters, path + ".inner", config.d_model, config.d_ff),
      outer_(parameters, path + ".outer", config.d_ff, config.d_model),
      activation_(config.activation),
      dropout_(config.activation_dropout),
      path_(path),
      site_(dropout_site(path + ".activation")) {}

Variable FeedForward::forward(const Variable& x, int64_t first_row, const ForwardContext& context) const {
  const Variable hidden = inner_.forward(x);  // [N, F]
  const Variable active =
      ops::activation_dropout(hidden, activation_, context.dropout(dropout_, site_, first_row));  // [N, F]
  context.show(path_, "hidden", hidden.value());
  context.show(path_, "active", active.value());
  return outer_.forward(active);  // [N, D]
}

}  // namespace dragoman::nn
