#include "nn/encoder_layer.h"

namespace dragoman::nn {

EncoderLayer::EncoderLayer(ParameterSet& parameters, const std::string& path, const LayerConfig& config)
    : self_attention_(parameters, path + ".self_attention", config),
      self_attention_residual_(parameters, path + ".self_attention", config),
      feed_forward_(parameters, path + ".feed_forward", config),
      feed_forward_residual_(parameters, path + ".feed_forward", config) {}

Variable EncoderLayer::forward(Variable x, const RaggedRows& rows, const ForwardContext& outer) const {
  const ForwardContext context = outer.over(rows);
  RaggedKeyValues whole_sentence(rows, Attend::kWholeSentence);
  const auto attend = [&](const Variable& h) { return self_attention_.forward(h, whole_sentence, context); };
  const auto feed_forward = [&](const Variable& h) { return feed_forward_.forward(h, context); };
  x = self_attention_residual_.forward(x, attend, context);         // [Ns, D]
  return feed_forward_residual_.forward(x, feed_forward, context);  // [Ns, D]
}

}  // namespace dragoman::nn
