#pragma once

#include <string>
#include <vector>

#include "cuda/op_cases.h"
#include "kernels/attention.h"
#include "kernels/backends/backend_of.h"

namespace dragoman::test_support {

/// An attention in bfloat16 over ragged sentences.
struct RowsCase {
  std::string name;
  std::vector<int32_t> lengths, key_lengths;
  kernels::AttentionOptions options;
  int64_t width;
  bool masked = false;
  int64_t first = 0;  ///< queries, keys and values are columns first .. first + width of wider matrices
  bool biased = false;
};

/// Heads that tensor cores have, and others.
inline std::vector<RowsCase> bfloat16_cases() {
  const std::vector<int32_t> lengths{5, 1, 0, 33, 40, 2, 17}, others{7, 3, 2, 70, 0, 1, 16};
  const kernels::AttentionOptions plain{.n_heads = 2}, causal{.n_heads = 2, .causal = true};
  kernels::AttentionOptions dropped = plain, causal_dropped = causal;
  dropped.dropout = causal_dropped.dropout = some_dropout(0.2F);
  kernels::AttentionOptions grouped{.n_heads = 4, .causal = true, .n_kv_heads = 2, .window = 40};
  grouped.dropout = some_dropout(0.2F);
  const std::vector<int32_t> longer{5, 1, 0, 33, 97, 2};
  return {{"heads of 64 columns", lengths, others, plain, 128},
          {"heads of 32 columns", lengths, others, plain, 64},
          {"heads of 16 columns", lengths, others, plain, 32},
          {"causal", lengths, lengths, causal, 128},
          {"masked", lengths, others, plain, 128, true},
          {"with dropout", lengths, others, dropped, 128},
          {"causal, masked, with dropout", lengths, lengths, causal_dropped, 64, true},
          {"columns of a wider matrix", lengths, others, dropped, 128, false, 64},
          {"rows at odd addresses", lengths, others, dropped, 128, false, 3},
          {"sentences of up to 64", {64, 33, 1, 20, 32, 50}, {40, 64, 60, 32, 33, 50}, dropped, 128},
          {"causal sentences of up to 64", {64, 33, 1, 20, 32}, {64, 33, 1, 20, 32}, causal_dropped, 80, true},
          {"heads of 128 columns", lengths, others, dropped, 256},
          {"heads of 80 columns", lengths, others, plain, 160},
          {"heads of 8 columns", lengths, others, plain, 16},
          {"heads of 12 columns", lengths, others, plain, 24},
          {"grouped, with a window and dropout", longer, longer, grouped, 256},
          {"sentences of several long tiles", {130, 7, 129, 0}, {7, 130, 7, 5}, dropped, 128},
          {"causal long tiles", {140, 20}, {140, 20}, causal_dropped, 128, true},
          {"grouped long tiles with a window", {145, 3}, {145, 3}, grouped, 256},
          {"causal long tiles of wide heads", {130}, {130}, causal, 256},
          {"relative positions", lengths, others, plain, 128, true, 0, true},
          {"causal, with relative positions and dropout", longer, longer, causal_dropped, 64, false, 0, true}};
}

/// The context and the gradients of query, key, value and bias, in host memory.
using RowsOutcome = std::vector<Tensor>;

/// Runs a case on the current device in float32 or bfloat16, with numbers that bfloat16 has.
inline RowsOutcome outcome_of(const RowsCase& test, DType dtype) {
  const Tensor queries = offsets_of(test.lengths), keys = offsets_of(test.key_lengths);
  const int64_t n_queries = queries.to_vector<int32_t>().back(), n_keys = keys.to_vector<int32_t>().back();
  const int64_t key_width = test.width / test.options.n_heads * kernels::n_kv_heads(test.options);
  const auto numbers = [&](int64_t rows, int64_t width, uint64_t seed) {
    const tensor::HostScope on_host;
    return rounded(random_tensor({rows, width}, DType::kFloat32, seed)).to(dtype);
  };
  const auto columns = [&](int64_t rows, int64_t width, uint64_t seed) {
    const Tensor wide = Tensor::full({rows, width + 2 * test.first}, 3.0, dtype);
    Tensor view = wide.columns(test.first, test.first + width);
    view.copy_from(tensor::to_current_device(numbers(rows, width, seed)));
    return view;
  };
  kernels::AttentionInputs inputs{columns(n_queries, test.width, 1),
                                  columns(n_keys, key_width, 2),
                                  columns(n_keys, key_width, 3),
                                  {queries, keys, {}},
                                  test.options};
  if (test.biased) {
    const auto on_host = [&] {
      const tensor::HostScope scope;
      return random_tensor({test.options.n_heads, 2 * kernels::bias_reach(100)}, DType::kFloat32, 5);
    };
    inputs.distance_bias = tensor::to_current_device(on_host());
  }
  if (test.masked) {
    const tensor::HostScope on_host;
    inputs.bounds.key_mask = Tensor::full({n_keys}, 1.0, DType::kBool);
    for (int64_t key = 0; key < n_keys; key += 3) {
      inputs.bounds.key_mask.data<bool>()[key] = false;
    }
  }
  const kernels::Backend& backend = kernels::backend_of(inputs.query);
  Tensor context = Tensor::empty({n_queries, test.width}, dtype);
  const kernels::AttentionSaved saved = backend.attention_forward(inputs, context);
  kernels::AttentionGradients gradients{Tensor::empty({n_queries, test.width}, dtype),
                                        Tensor::empty({n_keys, key_width}, dtype),
                                        Tensor::empty({n_keys, key_width}, dtype)};
  if (test.biased) {
    gradients.distance_bias = Tensor::empty(inputs.distance_bias.shape());
  }
  backend.attention_backward(inputs, saved, tensor::to_current_device(numbers(n_queries, test.width, 4)), gradients);
  RowsOutcome outcome{tensor::to_host(context), tensor::to_host(gradients.query), tensor::to_host(gradients.key),
                      tensor::to_host(gradients.value)};
  if (test.biased) {
    outcome.push_back(tensor::to_host(gradients.distance_bias));
  }
  return outcome;
}

}  // namespace dragoman::test_support
