#include "nn/multi_head_attention.h"

#include "base/error.h"
#include "ops/attention.h"
#include "tensor/transfer.h"

namespace dragoman::nn {

MultiHeadAttention::MultiHeadAttention(ParameterSet& parameters, const std::string& path, const LayerConfig& config)
    : query_(parameters, path + ".query", config.d_model, config.d_model),
      key_(parameters, path + ".key", config.d_model, config.d_model),
      value_(parameters, path + ".value", config.d_model, config.d_model),
      output_(parameters, path + ".output", config.d_model, config.d_model),
      n_heads_(config.n_heads),
      dropout_(config.attention_dropout),
      path_(path),
      site_(dropout_site(path + ".weights")) {
  base::check_usage(config.d_model % config.n_heads == 0, "{}: d_model {} is not a multiple of n_heads {}", path,
                    config.d_model, config.n_heads);
}

Variable MultiHeadAttention::forward(const Variable& x, KeyValueSource& key_values,
                                     const ForwardContext& context) const {
  const Variable heads = key_values.attend(x, *this, context);  // [N, H * Dh]   softmax(Q K^T / sqrt(Dh)) V
  context.show(path_, "context", heads.value());
  return output_.forward(heads);  // [N, D]   Concat(heads) W^O
}

MultiHeadAttention::KeysAndValues MultiHeadAttention::project_keys_and_values(const Variable& input) const {
  const ops::LinearMap maps[] = {key_.map(), value_.map()};
  std::vector<Variable> projected = ops::linear_each(input, maps);
  return {projected[0], projected[1]};
}

MultiHeadAttention::Projections MultiHeadAttention::project_all(const Variable& input) const {
  const ops::LinearMap maps[] = {query_.map(), key_.map(), value_.map()};
  std::vector<Variable> projected = ops::linear_each(input, maps);
  return {projected[0], projected[1], projected[2]};
}

MultiHeadAttention::Projections RaggedKeyValues::project(const Variable& input,
                                                         const MultiHeadAttention& attention) const {
  if (!encoded_.defined()) {
    return attention.project_all(input);
  }
  const Variable query = attention.project_query(input);
  auto [keys, values] = attention.project_keys_and_values(encoded_);
  return {query, keys, values};
}

Variable RaggedKeyValues::attend(const Variable& input, const MultiHeadAttention& attention,
                                 const ForwardContext& context) {
  const auto [query, key, value] = project(input, attention);  // Q W^Q [Nq, H * Dh]   K W^K, V W^V [Nk, H * Dh]
  context.show(attention.path(), "query", query.value());
  context.show(attention.path(), "key", key.value());
  context.show(attention.path(), "value", value.value());
  if (context.observer != nullptr) {
    observe(query, key, attention, *context.observer);
  }
  const kernels::AttentionBounds bounds{query_rows_.offsets, key_rows_.offsets, {}};
  const kernels::AttentionOptions options{
      attention.n_heads(), attend_ == Attend::kCausal,
      context.over(query_rows_).dropout(attention.weight_dropout(), attention.site())};
  return ops::attention(query, key, value, bounds, options);  // [Nq, H * Dh]
}

void RaggedKeyValues::observe(const Variable& query, const Variable& key, const MultiHeadAttention& attention,
                              ForwardObserver& observer) const {
  const tensor::HostView<int32_t> query_offsets(query_rows_.offsets), key_offsets(key_rows_.offsets);
  for (size_t sentence = 0; sentence + 1 < query_offsets.size(); ++sentence) {
    const Tensor q = query.value().rows(query_offsets[sentence], query_offsets[sentence + 1]);  // [T, H * Dh]
    const Tensor k = key.value().rows(key_offsets[sentence], key_offsets[sentence + 1]);        // [S, H * Dh]
    const Tensor t = tensor::host_tensor(std::vector<int32_t>{0, static_cast<int32_t>(q.dim(0))});
    const Tensor s = tensor::host_tensor(std::vector<int32_t>{0, static_cast<int32_t>(k.dim(0))});
    observer.observe(
        attention.path(), static_cast<int64_t>(sentence),
        ops::attention_weights(q, k, {t, s, {}}, {attention.n_heads(), attend_ == Attend::kCausal, {}}));  // [H, T, S]
  }
}

}  // namespace dragoman::nn
