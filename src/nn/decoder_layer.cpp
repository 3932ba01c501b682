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

std::string past_path(const std::string& path, DecoderSublayer sublayer) {
  switch (sublayer) {
    case DecoderSublayer::kSsru:
      return path + ".ssru";
    case DecoderSublayer::kAverageAttention:
      return path + ".average_attention";
    default:
      return path + ".self_attention";
  }
}

}  // namespace

DecoderLayer::Sublayer DecoderLayer::make_sublayer(ParameterSet& parameters, const std::string& path,
                                                   const LayerConfig& config) {
  switch (config.decoder_sublayer) {
    case DecoderSublayer::kSsru:
      return Ssru(parameters, path, config);
    case DecoderSublayer::kAverageAttention:
      return AverageAttention(parameters, path, config);
    default:
      return MultiHeadAttention(parameters, path, config);
  }
}

DecoderLayer::DecoderLayer(ParameterSet& parameters, const std::string& path, const LayerConfig& config)
    : past_(make_sublayer(parameters, past_path(path, config.decoder_sublayer), config)),
      past_residual_(parameters, past_path(path, config.decoder_sublayer), config),
      cross_attention_(parameters, path + ".cross_attention", of_cross_attention(config)),
      cross_attention_residual_(parameters, path + ".cross_attention", config),
      feed_forward_(parameters, path + ".feed_forward", config),
      feed_forward_residual_(parameters, path + ".feed_forward", config) {}

Variable DecoderLayer::read(const Variable& x, PastSource past, const ForwardContext& context) const {
  if (const auto* attention = std::get_if<MultiHeadAttention>(&past_)) {
    return attention->forward(x, past.key_values(), context);  // [Nt, D]
  }
  if (const auto* ssru = std::get_if<Ssru>(&past_)) {
    return ssru->forward(x, past.mean(), context);  // [Nt, D]
  }
  return std::get<AverageAttention>(past_).forward(x, past.mean(), context);  // [Nt, D]
}

Variable DecoderLayer::forward(Variable x, PastSource past, KeyValueSource& cross_key_values,
                               const ForwardContext& context) const {
  const auto read_past = [&](const Variable& h) { return read(h, past, context); };
  const auto attend_to_source = [&](const Variable& h) {
    return cross_attention_.forward(h, cross_key_values, context);
  };
  const auto feed_forward = [&](const Variable& h) { return feed_forward_.forward(h, context); };
  x = past_residual_.forward(x, read_past, context);                    // [Nt, D]
  x = cross_attention_residual_.forward(x, attend_to_source, context);  // [Nt, D]
  return feed_forward_residual_.forward(x, feed_forward, context);      // [Nt, D]
}

}  // namespace dragoman::nn
