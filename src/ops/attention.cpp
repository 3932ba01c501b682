#include "ops/attention.h"

#include <span>

#include "base/error.h"
#include "kernels/backends/backend_of.h"
#include "kernels/check_ids.h"
#include "tensor/transfer.h"

namespace dragoman::ops {
namespace {

// Offsets must start at 0, not fall, and end at the number of rows.
void check_offsets(const Tensor& offsets, int64_t n_rows, const char* argument) {
  base::check_argument(offsets.dtype() == DType::kInt32 && offsets.rank() == 1 && offsets.dim(0) >= 1,
                       "attention: {} is {} {}, must be int32 [sentences + 1]", argument,
                       tensor::dtype_name(offsets.dtype()), offsets.shape());
  const tensor::HostView<int32_t> ends(offsets);
  base::check_argument(ends.front() == 0 && ends.back() == n_rows,
                       "attention: {} runs from {} to {}, must run from 0 to the number of rows, {}", argument,
                       ends.front(), ends.back(), n_rows);
  for (size_t index = 1; index < ends.size(); ++index) {
    base::check_argument(ends[index - 1] <= ends[index], "attention: {}[{}] is {} after {}; offsets must not fall",
                         argument, index, ends[index], ends[index - 1]);
  }
}

void check_causal(const AttentionBounds& bounds) {
  const tensor::HostView<int32_t> queries(bounds.query_offsets), keys(bounds.key_offsets);
  for (size_t index = 1; index < queries.size(); ++index) {
    const int32_t n_queries = queries[index] - queries[index - 1], n_keys = keys[index] - keys[index - 1];
    base::check_argument(n_queries == n_keys,
                         "attention: causal, but sentence {} has {} queries and {} keys; must be equal", index - 1,
                         n_queries, n_keys);
  }
}

void check_bounds(const AttentionBounds& bounds, int64_t n_queries, int64_t n_keys, bool causal) {
  check_offsets(bounds.query_offsets, n_queries, "query_offsets");
  check_offsets(bounds.key_offsets, n_keys, "key_offsets");
  base::check_argument(bounds.query_offsets.dim(0) == bounds.key_offsets.dim(0),
                       "attention: offsets of {} sentences of queries and {} of keys; must be equal",
                       bounds.query_offsets.dim(0) - 1, bounds.key_offsets.dim(0) - 1);
  if (bounds.key_mask.defined()) {
    base::check_argument(bounds.key_mask.dtype() == DType::kBool && bounds.key_mask.is_contiguous(),
                         "attention: key_mask is {}, must be contiguous bool (true = may attend)",
                         tensor::dtype_name(bounds.key_mask.dtype()));
    tensor::check_shape(bounds.key_mask, {n_keys}, "attention", "key_mask");
  }
  if (causal) {
    check_causal(bounds);
  }
}

void check_width(const Tensor& matrix, int n_heads, const char* argument) {
  base::check_argument(n_heads >= 1 && matrix.dim(1) >= n_heads && matrix.dim(1) % n_heads == 0,
                       "attention: {} has width {}, which {} heads do not divide", argument, matrix.dim(1), n_heads);
}

void check_options(const AttentionOptions& options) {
  base::check_argument(options.n_kv_heads == 0 || (options.n_kv_heads > 0 && options.n_heads % options.n_kv_heads == 0),
                       "attention: n_kv_heads is {}, must divide n_heads, {}", options.n_kv_heads, options.n_heads);
  base::check_argument(options.window >= 0, "attention: window is {}, must be >= 0", options.window);
  base::check_argument(options.window == 0 || options.causal,
                       "attention: window is {} without causal; a window is of earlier keys", options.window);
}

void check_query_and_key(const Tensor& query, const Tensor& key, const AttentionBounds& bounds,
                         const AttentionOptions& options) {
  if (!is_bfloat16(query)) {
    kernels::check_float(query, "attention", "query");
  }
  tensor::check_matrix(query, query.dtype(), "attention", "query");
  tensor::check_matrix(key, query.dtype(), "attention", "key");
  check_options(options);
  const int n_kv_heads = kernels::n_kv_heads(options);
  base::check_argument(n_kv_heads != options.n_heads || query.dim(1) == key.dim(1),
                       "attention: query has width {}, key has width {}; both must be n_heads * d_head", query.dim(1),
                       key.dim(1));
  check_width(query, options.n_heads, "query");
  base::check_argument(key.dim(1) == query.dim(1) / options.n_heads * n_kv_heads,
                       "attention: key has width {}, must be n_kv_heads ({}) * d_head ({})", key.dim(1), n_kv_heads,
                       query.dim(1) / options.n_heads);
  check_bounds(bounds, query.dim(0), key.dim(0), options.causal);
}

void check_value(const Tensor& value, const Tensor& key, const AttentionOptions& options) {
  tensor::check_matrix(value, key.dtype(), "attention", "value");
  base::check_argument(value.dim(0) == key.dim(0), "attention: {} rows of values for {} rows of keys; must be equal",
                       value.dim(0), key.dim(0));
  check_width(value, kernels::n_kv_heads(options), "value");
  kernels::check_dropout(options.dropout, "attention");
}

}  // namespace

Variable attention(const Variable& query, const Variable& key, const Variable& value, const AttentionBounds& bounds,
                   const AttentionOptions& options) {
  check_query_and_key(query.value(), key.value(), bounds, options);
  check_value(value.value(), key.value(), options);
  const kernels::AttentionInputs inputs{query.value(), key.value(), value.value(), bounds, options};
  Tensor context = Tensor::empty({query.dim(0), inputs.n_heads() * inputs.d_value()}, query.dtype());  // [Nq, H*Dv]
  const Tensor stats = kernels::backend_of(context).attention_forward(inputs, context);
  const auto backward = [=](const Tensor& grad_context) {
    kernels::AttentionGradients gradients{Tensor::empty(query.shape(), query.dtype()),
                                          Tensor::empty(key.shape(), key.dtype()),
                                          Tensor::empty(value.shape(), value.dtype())};
    kernels::backend_of(grad_context).attention_backward(inputs, stats, grad_context, gradients);
    query.add_grad(gradients.query);
    key.add_grad(gradients.key);
    value.add_grad(gradients.value);
  };
  return autograd::record("attention", std::move(context), {&query, &key, &value}, backward);
}

Tensor attention_weights(const Tensor& query, const Tensor& key, const AttentionBounds& bounds,
                         const AttentionOptions& options) {
  check_query_and_key(query, key, bounds, options);
  base::check_argument(bounds.query_offsets.dim(0) == 2, "attention_weights: bounds of {} sentences, must be 1",
                       bounds.query_offsets.dim(0) - 1);
  const kernels::AttentionInputs inputs{query, key, {}, bounds, options};
  const bool exact = query.dtype() == DType::kFloat64;
  Tensor weights = Tensor::empty({options.n_heads, query.dim(0), key.dim(0)},
                                 exact ? DType::kFloat64 : DType::kFloat32);  // [H, T, S]
  kernels::backend_of(weights).attention_weights(inputs, weights);
  return exact ? weights.to(DType::kFloat32) : weights;
}

}  // namespace dragoman::ops
