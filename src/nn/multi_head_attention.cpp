#include "nn/multi_head_attention.h"

#include <cmath>

#include "base/error.h"
#include "nn/rotation.h"
#include "ops/attention.h"
#include "ops/columns.h"
#include "ops/layer_norm.h"
#include "ops/rotation.h"
#include "tensor/transfer.h"

namespace dragoman::nn {

namespace {

LinearOptions input_map(const LayerConfig& config) {
  LinearOptions map = config.inner_map();
  map.has_bias = config.options.biases != Biases::kNone;
  return map;
}

// Without a scale of the products, that of the queries before the first update is smaller.
LinearOptions query_map(const LayerConfig& config) {
  LinearOptions map = input_map(config);
  if (map.by_inputs && !config.options.scale_attention) {
    map.deviation /= std::sqrt(static_cast<float>(config.key_width()));
  }
  return map;
}

ParameterHandle head_norm(ParameterSet& parameters, const std::string& path, const LayerConfig& config) {
  return config.options.qk_norm ? parameters.declare(path + ".gain", {config.key_width()}, Initializer::kOnes)
                                : nullptr;
}

// As the attention ops take it: 0 = 1 / sqrt(Dh).
float scale_of(const LayerConfig& config) {
  if (!config.options.scale_attention) {
    return 1.0F;
  }
  return config.key_width() == config.head_width() ? 0.0F : 1.0F / std::sqrt(static_cast<float>(config.key_width()));
}

}  // namespace

MultiHeadAttention::MultiHeadAttention(ParameterSet& parameters, const std::string& path, const LayerConfig& config)
    : query_(parameters, path + ".query", config.d_model, config.n_heads * config.key_width(), query_map(config)),
      key_(parameters, path + ".key", config.d_model, config.kv_heads() * config.key_width(), input_map(config)),
      value_(parameters, path + ".value", config.d_model, config.kv_heads() * config.head_width(), input_map(config)),
      output_(parameters, path + ".output", config.n_heads * config.head_width(), config.d_model, config.outer_map()),
      n_heads_(config.n_heads),
      n_kv_heads_(config.kv_heads()),
      head_width_(config.head_width()),
      window_(config.options.window),
      query_norm_(head_norm(parameters, path + ".query_norm", config)),
      key_norm_(head_norm(parameters, path + ".key_norm", config)),
      epsilon_(config.layer_norm_epsilon),
      rotation_(config.rotation),
      scale_(scale_of(config)),
      relative_(config.relative),
      dropout_(config.attention_dropout),
      path_(path),
      site_(dropout_site(path + ".weights")) {
  base::check_usage(config.options.d_head > 0 || config.d_model % config.n_heads == 0,
                    "{}: d_model {} is not a multiple of n_heads {}", path, config.d_model, config.n_heads);
  check_key_width(config, PositionKind::kNone);
  base::check_usage(config.n_heads % n_kv_heads_ == 0, "{}: n_heads {} is not a multiple of n_kv_heads {}", path,
                    config.n_heads, n_kv_heads_);
}

Variable MultiHeadAttention::forward(const Variable& x, KeyValueSource& key_values,
                                     const ForwardContext& context) const {
  const Variable heads = key_values.attend(x, *this, context);  // [N, H * Dh]   softmax(Q K^T / sqrt(Dk)) V
  context.show(path_, "context", heads.value());
  return output_.forward(heads);  // [N, D]   Concat(heads) W^O
}

// Attention is of heads that have one width. Zeros change no product of a query and a key.
Variable MultiHeadAttention::widened(const Variable& projected, int heads) const {
  return ops::widen_heads(projected, heads, head_width_);  // [N, heads * Dk] -> [N, heads * Dh]
}

MultiHeadAttention::KeysAndValues MultiHeadAttention::project_keys_and_values(const Variable& input) const {
  const ops::LinearMap maps[] = {key_.map(), value_.map()};
  std::vector<Variable> projected = ops::linear_each(input, maps);
  return {widened(projected[0], n_kv_heads_), projected[1]};
}

MultiHeadAttention::Projections MultiHeadAttention::project_all(const Variable& input, const Tensor& positions,
                                                                const ForwardContext& context) const {
  const ops::LinearMap maps[] = {query_.map(), key_.map(), value_.map()};
  std::vector<Variable> projected = ops::linear_each(input, maps);
  Variable query = projected[0], key = projected[1];  // [N, H * Dk]   [N, Hkv * Dk]
  if (query_norm_ != nullptr || rotation_.defined()) {
    context.show(path_, "projected_query", query.value());
    context.show(path_, "projected_key", key.value());
  }
  if (query_norm_ != nullptr) {
    query = ops::head_rms_norm(query, query_norm_->variable, epsilon_);
    key = ops::head_rms_norm(key, key_norm_->variable, epsilon_);
  }
  if (rotation_.defined()) {
    const bool in_float64 = query.dtype() == tensor::DType::kFloat64;
    const Tensor table = in_float64 ? rotation_.to(tensor::DType::kFloat64) : rotation_;  // [P, Dk]
    query = ops::rotate(query, positions, table);
    key = ops::rotate(key, positions, table);
  }
  return {widened(query, n_heads_), widened(key, n_kv_heads_), projected[2]};
}

MultiHeadAttention::Projections RaggedKeyValues::project(const Variable& input, const MultiHeadAttention& attention,
                                                         const ForwardContext& context) const {
  if (!encoded_.defined()) {
    return attention.project_all(input, query_rows_.positions, context);
  }
  const Variable query = attention.project_query(input);
  auto [keys, values] = attention.project_keys_and_values(encoded_);
  return {query, keys, values};
}

kernels::AttentionOptions RaggedKeyValues::options(const MultiHeadAttention& attention) const {
  kernels::AttentionOptions options;
  options.n_heads = attention.n_heads();
  options.n_kv_heads = attention.n_kv_heads();
  options.causal = attend_ == Attend::kCausal;
  options.window = options.causal ? attention.window() : 0;
  options.scale = attention.scale();
  return options;
}

ops::RelativeBias RaggedKeyValues::bias(const MultiHeadAttention& attention) {
  return attention.relative() == nullptr ? ops::RelativeBias() : attention.relative()->bias();
}

Variable RaggedKeyValues::attend(const Variable& input, const MultiHeadAttention& attention,
                                 const ForwardContext& context) {
  const auto [query, key, value] =
      project(input, attention, context);  // Q W^Q [Nq, H * Dh]   K W^K, V W^V [Nk, H * Dh]
  context.show(attention.path(), "query", query.value());
  context.show(attention.path(), "key", key.value());
  context.show(attention.path(), "value", value.value());
  if (context.observer != nullptr) {
    observe(query, key, attention, *context.observer);
  }
  const kernels::AttentionBounds bounds{query_rows_.offsets, key_rows_.offsets, {}};
  kernels::AttentionOptions asked = options(attention);
  asked.dropout = context.over(query_rows_).dropout(attention.weight_dropout(), attention.site());
  return ops::attention(query, key, value, bounds, asked, bias(attention));  // [Nq, H * Dh]
}

void RaggedKeyValues::observe(const Variable& query, const Variable& key, const MultiHeadAttention& attention,
                              ForwardObserver& observer) const {
  const tensor::HostView<int32_t> query_offsets(query_rows_.offsets), key_offsets(key_rows_.offsets);
  for (size_t sentence = 0; sentence + 1 < query_offsets.size(); ++sentence) {
    const Tensor q = query.value().rows(query_offsets[sentence], query_offsets[sentence + 1]);  // [T, H * Dh]
    const Tensor k = key.value().rows(key_offsets[sentence], key_offsets[sentence + 1]);        // [S, H * Dh]
    const Tensor t = tensor::host_tensor(std::vector<int32_t>{0, static_cast<int32_t>(q.dim(0))});
    const Tensor s = tensor::host_tensor(std::vector<int32_t>{0, static_cast<int32_t>(k.dim(0))});
    observer.observe(attention.path(), static_cast<int64_t>(sentence),
                     ops::attention_weights(q, k, {t, s, {}}, options(attention), bias(attention)));  // [H, T, S]
  }
}

}  // namespace dragoman::nn
