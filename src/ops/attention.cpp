#include "ops/attention.h"

#include <algorithm>
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
  base::check_argument(options.scale >= 0.0F, "attention: scale is {}, must be > 0, or 0 for 1 / sqrt(d_head)",
                       options.scale);
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

void check_bias(const Tensor& query, const AttentionOptions& options, const RelativeBias& bias) {
  const RelativeBuckets& buckets = bias.buckets;
  const DType dtype = query.dtype() == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
  tensor::check_matrix(bias.weight.value(), dtype, "attention", "relative bias");
  tensor::check_shape(bias.weight.value(), {buckets.count, options.n_heads}, "attention", "relative bias");
  base::check_argument(buckets.count >= 4 && buckets.count % 4 == 0 && buckets.max_distance > buckets.count / 2,
                       "attention: relative bias of {} buckets up to distance {}; there must be a multiple of 4, and "
                       "the distance must be more than half of them",
                       buckets.count, buckets.max_distance);
  base::check_argument(buckets.both_sides != options.causal,
                       "attention: relative bias of {}; causal attention has one side",
                       buckets.both_sides ? "both sides of the query" : "one side of the query");
}

int64_t longest_sentence(const Tensor& offsets) {
  const tensor::HostView<int32_t> ends(offsets);
  int64_t longest = 0;
  for (size_t index = 1; index < ends.size(); ++index) {
    longest = std::max<int64_t>(longest, ends[index] - ends[index - 1]);
  }
  return longest;
}

// The bias by distance; undefined for none.
Tensor distance_bias(const Tensor& query, const AttentionBounds& bounds, const AttentionOptions& options,
                     const RelativeBias& bias) {
  if (!bias.weight.defined()) {
    return {};
  }
  check_bias(query, options, bias);
  const int64_t longest = std::max(longest_sentence(bounds.query_offsets), longest_sentence(bounds.key_offsets));
  return bias_by_distance(bias.weight.value(), bias.buckets, kernels::bias_reach(longest),
                          bounds.query_offsets);  // [H, 2*R]
}

}  // namespace

Variable attention(const Variable& query, const Variable& key, const Variable& value, const AttentionBounds& bounds,
                   const AttentionOptions& options, const RelativeBias& bias) {
  check_query_and_key(query.value(), key.value(), bounds, options);
  check_value(value.value(), key.value(), options);
  const kernels::AttentionInputs inputs{
      query.value(), key.value(), value.value(), bounds, options, distance_bias(query.value(), bounds, options, bias)};
  Tensor context = Tensor::empty({query.dim(0), inputs.n_heads() * inputs.d_value()}, query.dtype());  // [Nq, H*Dv]
  const kernels::AttentionSaved saved = kernels::backend_of(context).attention_forward(inputs, context);
  const auto backward = [=](const Tensor& grad_context) {
    kernels::AttentionGradients gradients{query.empty_grad(), key.empty_grad(), value.empty_grad()};
    if (inputs.distance_bias.defined()) {
      gradients.distance_bias = Tensor::empty(inputs.distance_bias.shape(), inputs.distance_bias.dtype());
    }
    kernels::backend_of(grad_context).attention_backward(inputs, saved, grad_context, gradients);
    query.add_grad(gradients.query);
    key.add_grad(gradients.key);
    value.add_grad(gradients.value);
    if (bias.weight.defined()) {
      bias.weight.add_grad(bias_weight_grad(gradients.distance_bias, bias.buckets, bounds.query_offsets));
    }
  };
  return autograd::record("attention", std::move(context), {&query, &key, &value, &bias.weight}, backward);
}

Tensor attention_weights(const Tensor& query, const Tensor& key, const AttentionBounds& bounds,
                         const AttentionOptions& options, const RelativeBias& bias) {
  check_query_and_key(query, key, bounds, options);
  base::check_argument(bounds.query_offsets.dim(0) == 2, "attention_weights: bounds of {} sentences, must be 1",
                       bounds.query_offsets.dim(0) - 1);
  const kernels::AttentionInputs inputs{query, key, {}, bounds, options, distance_bias(query, bounds, options, bias)};
  const bool exact = query.dtype() == DType::kFloat64;
  Tensor weights = Tensor::empty({options.n_heads, query.dim(0), key.dim(0)},
                                 exact ? DType::kFloat64 : DType::kFloat32);  // [H, T, S]
  kernels::backend_of(weights).attention_weights(inputs, weights);
  return exact ? weights.to(DType::kFloat32) : weights;
}

}  // namespace dragoman::ops
