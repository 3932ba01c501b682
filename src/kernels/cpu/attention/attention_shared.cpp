#include "kernels/cpu/attention/attention_shared.h"

#include <algorithm>

#include "base/error.h"
#include "kernels/cpu/attention/attention_shared_cpu.h"
#include "kernels/cpu/attention/attention_step.h"

namespace dragoman::kernels {
namespace {

using tensor::DType;

int64_t head_width(const Tensor& matrix, int n_heads, const char* op, const char* name) {
  tensor::check_matrix(matrix, DType::kFloat32, op, name);
  base::check_argument(n_heads >= 1 && matrix.dim(1) % n_heads == 0,
                       "{}: {} has width {}, which {} heads do not divide", op, name, matrix.dim(1), n_heads);
  return matrix.dim(1) / n_heads;
}

// The queries of one group; `problem` then stands at those of the next.
void run_group(const SharedRows& group, const SharedRows* next, SharedProblem& problem) {
  problem.keys = group.keys->keys.raw_data();
  problem.values = group.keys->values.raw_data();
  problem.dtype = group.keys->keys.dtype();
  if (problem.dtype == DType::kInt8) {
    problem.key_scales = group.keys->key_scales.data<float>();
    problem.value_scales = group.keys->value_scales.data<float>();
  }
  problem.length = group.keys->length;
  problem.next_keys = next == nullptr ? nullptr : next->keys->keys.raw_data();
  problem.next_values = next == nullptr ? nullptr : next->keys->values.raw_data();
  for (int64_t row = 0; row < group.rows; row += kSharedQueries) {
    const int64_t count = std::min<int64_t>(group.rows - row, kSharedQueries);
    attention_shared_kernel(problem, count);
    problem.query += count * problem.query_stride;
    problem.context += count * problem.context_stride;
    if (problem.mean_weights != nullptr) {
      problem.mean_weights += count * problem.mean_stride;
    }
  }
}

Tensor rounded_rows(const Tensor& matrix) {
  Tensor rounded = Tensor::empty(matrix.shape(), DType::kBFloat16);
  for (int64_t row = 0; row < matrix.dim(0); ++row) {
    round_row(matrix.data<float>() + row * matrix.stride(0), matrix.dim(1),
              rounded.data<tensor::BFloat16>() + row * rounded.stride(0));
  }
  return rounded;
}

// Returns each head of each row of `matrix` in int8. `scales` [H, rows or more] receives the scales, zero past the
// rows.
Tensor quantised_heads(const Tensor& matrix, int n_heads, Tensor& scales) {
  const int64_t size = matrix.dim(1) / n_heads;
  Tensor quantised = Tensor::empty(matrix.shape(), DType::kInt8);
  Tensor of_row = Tensor::empty({n_heads});
  scales.zero();
  for (int64_t row = 0; row < matrix.dim(0); ++row) {
    quantise_heads(matrix.data<float>() + row * matrix.stride(0), n_heads, size,
                   quantised.data<int8_t>() + row * quantised.stride(0), of_row.data<float>());
    for (int64_t h = 0; h < n_heads; ++h) {
      scales.data<float>()[h * scales.stride(0) + row] = of_row.data<float>()[h];
    }
  }
  return quantised;
}

template <class T>
void lay_out(const Tensor& keys, const Tensor& values, SharedKeys& packed) {
  const int64_t n_heads = packed.keys.dim(0), blocks = packed.keys.dim(1), d_head = packed.keys.dim(2);
  const int64_t d_value = packed.values.dim(2), length = packed.length;
  auto* key = packed.keys.data<T>();
  auto* value = packed.values.data<T>();
  for (int64_t h = 0; h < n_heads; ++h) {
    const T* from = keys.data<T>() + h * d_head;
    for (int64_t block = 0; block < blocks; ++block) {
      for (int64_t d = 0; d < d_head; ++d) {
        for (int64_t t = block * kKeyBlock; t < (block + 1) * kKeyBlock; ++t) {
          *key++ = t < length ? from[t * keys.stride(0) + d] : T{};
        }
      }
    }
    for (int64_t t = 0; t < length; ++t) {
      value = std::copy_n(values.data<T>() + t * values.stride(0) + h * d_value, d_value, value);
    }
  }
}

}  // namespace

SharedKeys pack_shared_keys(const Tensor& keys, const Tensor& values, int n_heads, DType dtype) {
  const int64_t d_head = head_width(keys, n_heads, "pack_shared_keys", "keys");
  const int64_t d_value = head_width(values, n_heads, "pack_shared_keys", "values");
  const int64_t length = keys.dim(0), blocks = (length + kKeyBlock - 1) / kKeyBlock;
  tensor::check_shape(values, {length, values.dim(1)}, "pack_shared_keys", "values");
  base::check_argument(dtype == DType::kFloat32 || dtype == DType::kBFloat16 || dtype == DType::kInt8,
                       "pack_shared_keys: dtype is {}, must be float32, bfloat16 or int8", tensor::dtype_name(dtype));
  SharedKeys packed{Tensor::empty({n_heads, blocks, d_head, kKeyBlock}, dtype),
                    Tensor::empty({n_heads, length, d_value}, dtype),
                    length,
                    {},
                    {}};
  if (dtype == DType::kInt8) {
    packed.key_scales = Tensor::empty({n_heads, blocks * kKeyBlock});
    packed.value_scales = Tensor::empty({n_heads, blocks * kKeyBlock});
    lay_out<int8_t>(quantised_heads(keys, n_heads, packed.key_scales),
                    quantised_heads(values, n_heads, packed.value_scales), packed);
  } else if (dtype == DType::kBFloat16) {
    lay_out<tensor::BFloat16>(rounded_rows(keys), rounded_rows(values), packed);
  } else {
    lay_out<float>(keys, values, packed);
  }
  return packed;
}

void attention_shared(const Tensor& query, std::span<const SharedRows> groups, int n_heads, Tensor& context,
                      Tensor* mean_weights) {
  const int64_t d_head = head_width(query, n_heads, "attention_shared", "query");
  const int64_t d_value = head_width(context, n_heads, "attention_shared", "context");
  int64_t rows = 0, longest = 0;
  for (const SharedRows& group : groups) {
    const SharedKeys& keys = *group.keys;
    tensor::check_shape(keys.keys, {n_heads, keys.keys.dim(1), d_head, kKeyBlock}, "attention_shared", "keys");
    tensor::check_shape(keys.values, {n_heads, keys.length, d_value}, "attention_shared", "values");
    rows += group.rows;
    longest = std::max(longest, keys.length);
  }
  base::check_argument(rows == query.dim(0) && rows == context.dim(0),
                       "attention_shared: groups of {} rows for {} queries and {} rows of context", rows, query.dim(0),
                       context.dim(0));
  SharedProblem problem{};
  problem.n_heads = n_heads;
  problem.d_head = d_head;
  problem.d_value = d_value;
  problem.width = (longest + kKeyBlock - 1) / kKeyBlock * kKeyBlock;
  problem.query = query.data<float>();
  problem.query_stride = query.stride(0);
  problem.context = context.data<float>();
  problem.context_stride = context.stride(0);
  Tensor weights = Tensor::empty({kSharedQueries * problem.width});  // of one head
  problem.weights = weights.data<float>();
  if (mean_weights != nullptr) {
    tensor::check_matrix(*mean_weights, DType::kFloat32, "attention_shared", "mean_weights");
    base::check_argument(mean_weights->dim(0) == rows && mean_weights->dim(1) >= longest,
                         "attention_shared: mean_weights is {}, must be [{}, {} or more]", mean_weights->shape(), rows,
                         longest);
    mean_weights->zero();
    problem.mean_weights = mean_weights->data<float>();
    problem.mean_stride = mean_weights->stride(0);
  }
  for (size_t group = 0; group < groups.size(); ++group) {
    run_group(groups[group], group + 1 < groups.size() ? &groups[group + 1] : nullptr, problem);
  }
}

}  // namespace dragoman::kernels
