#include "decoding/inspection/inspected_head.h"

#include <cmath>
#include <optional>

#include "base/error.h"
#include "decoding/inspection/inspected_parameter.h"
#include "models/convolutional/convolutional_config.h"
#include "models/decoder_only/decoder_only_config.h"
#include "models/encoder_only/encoder_only_config.h"
#include "models/recurrent/recurrent_config.h"
#include "models/transformer/transformer_config.h"
#include "nn/rotation.h"
#include "ops/relative_positions.h"
#include "tensor/transfer.h"

namespace dragoman::decoding {
namespace {

// The score of each query and each key, [T, S]: the sum over the columns i of term(q_i, k_i, i).
template <typename Term>
tensor::Tensor scores_of(const tensor::Tensor& query, const tensor::Tensor& key, Term term) {
  tensor::Tensor scores = tensor::Tensor::empty({query.dim(0), key.dim(0)});
  tensor::HostEdit<float> edit(scores);
  const tensor::HostRows<float> queries(query), keys(key);
  const auto width = static_cast<size_t>(query.dim(1));
  auto score = edit.span().begin();
  for (int64_t t = 0; t < query.dim(0); ++t) {
    for (int64_t s = 0; s < key.dim(0); ++s) {
      const std::span<const float> q = queries[static_cast<size_t>(t)], k = keys[static_cast<size_t>(s)];
      double sum = 0.0;
      for (size_t i = 0; i < width; ++i) {
        sum += term(static_cast<double>(q[i]), static_cast<double>(k[i]), i);
      }
      *score++ = static_cast<float>(sum);
    }
  }
  return scores;
}

// What the model says of the layer; none of an architecture that this does not know.
struct Layer {
  nn::LayerConfig config;
  nn::PositionConfig positions;
};

std::optional<Layer> layer_of(const models::ModelConfig& config, bool in_decoder) {
  if (const auto* decoder = config.get_if<models::DecoderOnlyConfig>()) {
    return Layer{decoder->layer_config(), {decoder->positions, decoder->max_positions}};
  }
  if (const auto* both = config.get_if<models::TransformerConfig>()) {
    return Layer{in_decoder ? both->decoder_layer() : both->encoder_layer(), {both->positions, both->max_positions}};
  }
  if (const auto* encoder = config.get_if<models::EncoderOnlyConfig>()) {
    return Layer{encoder->layer_config(), {encoder->positions, encoder->max_positions}};
  }
  return std::nullopt;
}

// One head of a value with `heads` heads side by side, [N, Dh].
tensor::Tensor columns_of(const tensor::Tensor& all, int64_t head, int64_t heads) {
  const int64_t width = all.dim(1) / heads;
  return all.columns(head * width, (head + 1) * width).clone();
}

ScoreRule rule_of(const models::ModelConfig& config) {
  if (const auto* recurrent = config.get_if<models::RecurrentConfig>()) {
    const bool is_additive = recurrent->attention == models::RecurrentAttention::kBahdanau;
    return is_additive ? ScoreRule::kAdditive : ScoreRule::kProduct;
  }
  return config.get_if<models::ConvolutionalConfig>() != nullptr ? ScoreRule::kProduct : ScoreRule::kScaledProduct;
}

void score(InspectedHead& head) {
  if (head.rule == ScoreRule::kAdditive) {
    const tensor::HostView<float> weight(head.score_weight);
    head.scores = scores_of(head.query, head.key, [&](double q, double k, size_t i) {
      return static_cast<double>(weight[i]) * std::tanh(q + k);
    });
    return;
  }
  head.scores = scores_of(head.query, head.key, [](double q, double k, size_t) { return q * k; });
  if (head.rule == ScoreRule::kProduct) {
    return;
  }
  head.scaled = head.scores.clone();
  tensor::HostEdit<float> scaled(head.scaled);
  for (float& score : scaled.span()) {
    score *= static_cast<float>(head.scale);
  }
}

// [T, S], of one head. @param weight  [buckets, H] of the stack
tensor::Tensor relative_bias(const tensor::Tensor& weight, const ops::RelativeBuckets& buckets, int64_t head,
                             const tensor::Shape& shape) {
  const tensor::HostRows<float> of_bucket(weight);
  tensor::Tensor bias = tensor::Tensor::empty(shape);
  tensor::HostEdit<float> edit(bias);
  auto value = edit.span().begin();
  for (int64_t t = 0; t < shape[0]; ++t) {
    for (int64_t s = 0; s < shape[1]; ++s) {
      const auto bucket = static_cast<size_t>(ops::relative_bucket(s - t, buckets));
      *value++ = of_bucket[bucket][static_cast<size_t>(head)];
    }
  }
  return bias;
}

}  // namespace

InspectedHead inspect_head(const Inspection& inspection, std::string_view path, int64_t head) {
  const tensor::Tensor& weights = inspection.weights(path);  // [H, T, S]
  const int64_t n_heads = weights.dim(0);
  base::check_usage(head >= 0 && head < n_heads, "inspect: head {}, but {} has {}; count from 0", head, path, n_heads);
  const auto value = [&](const char* name) { return inspection.value(path, name); };
  const tensor::Tensor query = value("query"), key = value("key");  // [T, H * Dh], [S, Hkv * Dh]
  const int64_t key_heads = key.dim(1) / (query.dim(1) / n_heads);
  const bool is_self = path.ends_with("self_attention"), in_decoder = path.starts_with("decoder.");
  InspectedHead result;
  result.key_head = head / (n_heads / key_heads);
  const std::optional<Layer> any_layer = layer_of(inspection.model().config(), in_decoder);
  // Columns past Dk are zeros that the layer added.
  const int64_t width = any_layer ? any_layer->config.key_width() : query.dim(1) / n_heads;
  result.query = columns_of(query, head, n_heads).columns(0, width).clone();
  result.key = columns_of(key, result.key_head, key_heads).columns(0, width).clone();
  result.value = columns_of(value("value"), result.key_head, key_heads);
  result.context = columns_of(value("context"), head, n_heads);
  result.rule = rule_of(inspection.model().config());
  if (result.rule == ScoreRule::kAdditive) {
    result.score_weight = inspect_parameter(inspection, {.path = std::string(path) + ".score"});
  }
  if (any_layer && any_layer->config.options.scale_attention) {
    result.scale = 1.0 / std::sqrt(static_cast<double>(width));
  }
  score(result);
  result.weights = weights.rows(head, head + 1).reshape({weights.dim(1), weights.dim(2)});
  result.causal = is_self && (inspection.continues_source() || in_decoder);
  const std::optional<Layer> layer = is_self ? any_layer : std::nullopt;
  if (layer && result.causal) {
    result.window = layer->config.options.window;
  }
  if (layer && layer->positions.kind == nn::PositionKind::kRelative) {
    const nn::LayerOptions& options = layer->config.options;
    const tensor::Tensor weight = inspect_parameter(
        inspection, {.path = std::string(in_decoder ? "decoder" : "encoder") + ".relative_positions.weight"});
    result.bias = relative_bias(weight, {options.relative_buckets, options.relative_distance, !in_decoder}, head,
                                result.weights.shape());
  }
  const bool rotates = layer && layer->positions.kind == nn::PositionKind::kRotary;
  if (rotates) {
    result.rotation = nn::with_rotation(layer->config, {layer->positions.kind, query.dim(0)}).rotation;  // [T, Dh]
  }
  if (rotates || (layer && layer->config.options.qk_norm)) {
    result.projected_query = columns_of(value("projected_query"), head, n_heads);
    result.projected_key = columns_of(value("projected_key"), result.key_head, key_heads);
  }
  return result;
}

}  // namespace dragoman::decoding
