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
};

/// Heads of 32 and 64 columns, which tensor cores have, and others.
inline std::vector<RowsCase> bfloat16_cases() {
  const std::vector<int32_t> lengths{5, 1, 0, 33, 40, 2, 17}, others{7, 3, 2, 70, 0, 1, 16};
  const kernels::AttentionOptions plain{.n_heads = 2}, causal{.n_heads = 2, .causal = true};
  kernels::AttentionOptions dropped = plain, causal_dropped = causal;
  dropped.dropout = causal_dropped.dropout = some_dropout(0.2F);
  return {{"heads of 64 columns", lengths, others, plain, 128},
          {"heads of 32 columns", lengths, others, plain, 64},
          {"heads of 16 columns", lengths, others, plain, 32},
          {"causal", lengths, lengths, causal, 128},
          {"masked", lengths, others, plain, 128, true},
          {"with dropout", lengths, others, dropped, 128},
          {"causal, masked, with dropout", lengths, lengths, causal_dropped, 64, true},
          {"columns of a wider matrix", lengths, others, dropped, 128, false, 64},
          {"rows at odd addresses", lengths, others, dropped, 128, false, 3}};
}

/// The context and the gradients of query, key and value, in host memory.
using RowsOutcome = std::vector<Tensor>;

/// Runs a case on the current device in float32 or bfloat16, with numbers that bfloat16 has.
inline RowsOutcome outcome_of(const RowsCase& test, DType dtype) {
  const Tensor queries = offsets_of(test.lengths), keys = offsets_of(test.key_lengths);
  const int64_t n_queries = queries.to_vector<int32_t>().back(), n_keys = keys.to_vector<int32_t>().back();
  const auto numbers = [&](int64_t rows, uint64_t seed) {
    const tensor::HostScope on_host;
    return rounded(random_tensor({rows, test.width}, DType::kFloat32, seed)).to(dtype);
  };
  const auto columns = [&](int64_t rows, uint64_t seed) {
    const Tensor wide = Tensor::full({rows, test.width + 2 * test.first}, 3.0, dtype);
    Tensor view = wide.columns(test.first, test.first + test.width);
    view.copy_from(tensor::to_current_device(numbers(rows, seed)));
    return view;
  };
  kernels::AttentionInputs inputs{
      columns(n_queries, 1), columns(n_keys, 2), columns(n_keys, 3), {queries, keys, {}}, test.options};
  if (test.masked) {
    const tensor::HostScope on_host;
    inputs.bounds.key_mask = Tensor::full({n_keys}, 1.0, DType::kBool);
    for (int64_t key = 0; key < n_keys; key += 3) {
      inputs.bounds.key_mask.data<bool>()[key] = false;
    }
  }
  const kernels::Backend& backend = kernels::backend_of(inputs.query);
  Tensor context = Tensor::empty({n_queries, test.width}, dtype);
  const Tensor stats = backend.attention_forward(inputs, context);
  kernels::AttentionGradients gradients{Tensor::empty({n_queries, test.width}, dtype),
                                        Tensor::empty({n_keys, test.width}, dtype),
                                        Tensor::empty({n_keys, test.width}, dtype)};
  backend.attention_backward(inputs, stats, tensor::to_current_device(numbers(n_queries, 4)), gradients);
  return {tensor::to_host(context), tensor::to_host(gradients.query), tensor::to_host(gradients.key),
          tensor::to_host(gradients.value)};
}

}  // namespace dragoman::test_support
