#include "kernels/cpu/attention/attention_step.h"

#include <algorithm>

#include "base/error.h"
#include "kernels/cpu/attention/attention_step_cpu.h"

namespace dragoman::kernels {
namespace {

using tensor::DType;

void check_widths(const Tensor& query, const Tensor& context, int n_heads) {
  tensor::check_matrix(query, DType::kFloat32, "attention_step", "query");
  tensor::check_matrix(context, DType::kFloat32, "attention_step", "context");
  base::check_argument(
      n_heads >= 1 && query.dim(1) >= n_heads && query.dim(1) % n_heads == 0 && context.dim(1) % n_heads == 0,
      "attention_step: query has width {}, context has width {}, which {} heads do not divide", query.dim(1),
      context.dim(1), n_heads);
  base::check_argument(context.dim(0) == query.dim(0),
                       "attention_step: {} rows of context for {} queries; must be equal", context.dim(0),
                       query.dim(0));
}

int64_t check_rows(std::span<const StepKeys> rows, const Tensor& query) {
  base::check_argument(static_cast<int64_t>(rows.size()) == query.dim(0),
                       "attention_step: {} rows of keys for {} queries", rows.size(), query.dim(0));
  int64_t longest = 0;
  for (size_t row = 0; row < rows.size(); ++row) {
    const DType dtype = rows[row].dtype;
    base::check_argument(dtype == DType::kFloat32 || dtype == DType::kBFloat16 || dtype == DType::kInt8,
                         "attention_step: row {} has keys of {}, must be float32, bfloat16 or int8", row,
                         tensor::dtype_name(dtype));
    base::check_argument(rows[row].length >= 0, "attention_step: row {} has length {}, must be >= 0", row,
                         rows[row].length);
    longest = std::max(longest, rows[row].length);
  }
  return longest;
}

// Heads of the keys and values of all rows.
int heads_of_keys(std::span<const StepKeys> rows, int n_heads) {
  const int count = rows.empty() || rows.front().n_kv_heads == 0 ? n_heads : rows.front().n_kv_heads;
  base::check_argument(count >= 1 && n_heads % count == 0, "attention_step: n_kv_heads is {}, must divide n_heads, {}",
                       count, n_heads);
  for (size_t row = 0; row < rows.size(); ++row) {
    base::check_argument((rows[row].n_kv_heads == 0 ? n_heads : rows[row].n_kv_heads) == count,
                         "attention_step: row {} has {} n_kv_heads, row 0 has {}; must be equal", row,
                         rows[row].n_kv_heads, count);
  }
  return count;
}

// [H] the head of key and value of each head; undefined if each has its own.
Tensor key_heads(int n_heads, int n_kv_heads) {
  if (n_heads == n_kv_heads) {
    return {};
  }
  Tensor heads = Tensor::empty({n_heads}, DType::kInt32);
  for (int head = 0; head < n_heads; ++head) {
    heads.data<int32_t>()[head] = head / (n_heads / n_kv_heads);
  }
  return heads;
}

void check_mean_weights(const Tensor& mean_weights, int64_t n_rows, int64_t longest) {
  tensor::check_matrix(mean_weights, DType::kFloat32, "attention_step", "mean_weights");
  base::check_argument(mean_weights.dim(0) == n_rows && mean_weights.dim(1) >= longest,
                       "attention_step: mean_weights is {}, must be [{}, {} or more]", mean_weights.shape(), n_rows,
                       longest);
}

bool of_one_sentence(const StepKeys& x, const StepKeys& y) {
  return x.row_of_position != nullptr && y.row_of_position != nullptr && x.keys == y.keys && x.values == y.values &&
         x.stride == y.stride && x.dtype == y.dtype && x.length == y.length && x.length > 0 &&
         x.row_of_position[0] == y.row_of_position[0];
}

// How many of `rows` begin alike, as the hypotheses of a sentence do, at most kStepRows.
int64_t rows_together(std::span<const StepKeys> rows) {
  int64_t count = 1;
  while (count < std::min<int64_t>(kStepRows, std::ssize(rows)) &&
         of_one_sentence(rows.front(), rows[static_cast<size_t>(count)])) {
    ++count;
  }
  return count;
}

// Positions from the first on that all of them read from the same cache rows.
int64_t shared_positions(std::span<const StepKeys> rows) {
  int64_t shared = rows.size() > 1 ? rows.front().length : 0;
  for (const StepKeys& keys : rows.subspan(1)) {
    const int32_t* const first = rows.front().row_of_position;
    shared = std::mismatch(first, first + shared, keys.row_of_position).first - first;
  }
  return shared;
}

}  // namespace

void attention_step(const Tensor& query, std::span<const StepKeys> rows, int n_heads, Tensor& context,
                    Tensor* mean_weights) {
  check_widths(query, context, n_heads);
  const int64_t longest = check_rows(rows, query);
  if (mean_weights != nullptr) {
    check_mean_weights(*mean_weights, query.dim(0), longest);
    mean_weights->zero();
  }
  const int64_t weights_size = n_heads * step_row_width(longest);
  Tensor weights = Tensor::empty({kStepRows, weights_size});  // [rows together, H * L padded]
  const int n_kv_heads = heads_of_keys(rows, n_heads);
  const Tensor shared = key_heads(n_heads, n_kv_heads);
  const StepShape shape{n_heads, query.dim(1) / n_heads, context.dim(1) / n_heads, n_kv_heads,
                        shared.defined() ? shared.data<int32_t>() : nullptr};
  for (int64_t r = 0; r < query.dim(0);) {
    const std::span<const StepKeys> left = rows.subspan(static_cast<size_t>(r));
    const int64_t count = rows_together(left);
    attention_step_rows(shape, {query.data<float>() + r * query.stride(0), query.stride(0), left.data(), count,
                                shared_positions(left.first(static_cast<size_t>(count))), weights.data<float>(),
                                weights_size, context.data<float>() + r * context.stride(0), context.stride(0)});
    for (int64_t i = 0; i < count && mean_weights != nullptr; ++i) {
      mean_over_heads(shape, weights.data<float>() + i * weights_size, left[static_cast<size_t>(i)].length,
                      mean_weights->data<float>() + (r + i) * mean_weights->stride(0));
    }
    r += count;
  }
}

}  // namespace dragoman::kernels
