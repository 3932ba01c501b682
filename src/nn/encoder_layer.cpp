#include "nn/encoder_layer.h"

namespace dragoman::nn {

EncoderLayer::EncoderLayer(ParameterSet& parameters, const std::string& path, const LayerConfig& config)
    : self_attention_(parameters, path + ".self_attention", config),
      self_attention_residual_(parameters, path + ".self_attention", config),
      feed_forward_(parameters, path + ".feed_forward", config),
      feed_forward_residual_(parameters, path + ".feed_forward", config) {}

Variable EncoderLayer::forward(const Variable& x, const RaggedRows& rows, const ForwardContext& context) const {
  RaggedKeyValues whole_sentence(rows, Attend::kWholeSentence);
  return forward(x, whole_sentence, context.over(rows));  // [Ns, D]
}

Variable EncoderLayer::forward(Variable x, KeyValueSource& key_values, const ForwardContext& context) const {
  const auto attend = [&](const Variable& h) { return self_attention_.forward(h, key_values, context); };
  const auto feed_forward = [&](const Variable& h) { return feed_forward_.forward(h, context); };
  x = self_attention_residual_.forward(x, attend, context);         // [N, D]
  return feed_forward_residual_.forward(x, feed_forward, context);  // [N, D]
}

}  // namespace dragoman::nn
