#include "nn/decoder_layer.h"

namespace dragoman::nn {
namespace {

// Rotation, relative positions, groups, windows and norms of heads belong to self-attention.
LayerConfig of_cross_attention(LayerConfig config) {
  config.options.n_kv_heads = 0;
  config.options.qk_norm = false;
  config.options.window = 0;
  config.rotation = {};
  config.relative = nullptr;
  return config;
}

}  // namespace

DecoderLayer::DecoderLayer(ParameterSet& parameters, const std::string& path, const LayerConfig& config)
    : self_attention_(parameters, path + ".self_attention", config),
      self_attention_residual_(parameters, path + ".self_attention", config),
      cross_attention_(parameters, path + ".cross_attention", of_cross_attention(config)),
      cross_attention_residual_(parameters, path + ".cross_attention", config),
      feed_forward_(parameters, path + ".feed_forward", config),
      feed_forward_residual_(parameters, path + ".feed_forward", config) {}

Variable DecoderLayer::forward(Variable x, KeyValueSource& self_key_values, KeyValueSource& cross_key_values,
                               const ForwardContext& context) const {
  const auto attend_to_self = [&](const Variable& h) { return self_attention_.forward(h, self_key_values, context); };
  const auto attend_to_source = [&](const Variable& h) {
    return cross_attention_.forward(h, cross_key_values, context);
  };
  const auto feed_forward = [&](const Variable& h) { return feed_forward_.forward(h, context); };
  x = self_attention_residual_.forward(x, attend_to_self, context);     // [Nt, D]
  x = cross_attention_residual_.forward(x, attend_to_source, context);  // [Nt, D]
  return feed_forward_residual_.forward(x, feed_forward, context);      // [Nt, D]
}

}  // namespace dragoman::nn
