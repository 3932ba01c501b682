#include "nn/feed_forward.h"

namespace dragoman::nn {

FeedForward::FeedForward(ParameterSet& parameters, const std::string& path, const LayerConfig& config)
    : inner_(parameters, path + ".inner", config.d_model, config.d_ff),
      outer_(parameters, path + ".outer", config.d_ff, config.d_model),
      activation_(config.activation),
      dropout_(config.activation_dropout),
      site_(dropout_site(path + ".activation")) {}

Variable FeedForward::forward(const Variable& x, int64_t first_row, const ForwardContext& context) const {
  const ops::Dropout dropout = context.dropout(dropout_, site_, first_row);
  const Variable active = dropout.probability > 0.0F
                              ? ops::activation_dropout(inner_.forward(x), activation_, dropout)
                              : inner_.forward(x, activation_);  // [N, F]
  return outer_.forward(active);                                 // [N, D]
}

}  // namespace dragoman::nn
