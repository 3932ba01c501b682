#include "kernels/cpu/attention/attention_step.h"

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "kernels/cpu/attention/attention_step_cpu.h"
#include "kernels/team.h"

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
         x.stride == y.stride && x.dtype == y.dtype && x.length > 0 && y.length > 0 &&
         x.row_of_position[0] == y.row_of_position[0];
}

// How many of `rows` begin alike, as the hypotheses of a sentence and the tokens of a prompt do, at most kStepRows.
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
    shared = std::min(shared, keys.length);
    shared = std::mismatch(first, first + shared, keys.row_of_position).first - first;
  }
  return shared;
}

// What one thread computes: rows [begin, end), of each the heads [first_head, end_head).
struct StepShare {
  int64_t begin, end, first_head, end_head;
};

// The operands of all threads.
struct StepWork {
  const StepShape& shape;
  const Tensor& query;
  std::span<const StepKeys> rows;
  Tensor& context;
  Tensor* mean_weights;  // null where threads share the work
  int64_t longest;
};

// @param weights  [kStepRows, H * step_row_width(longest)] of this thread
void compute_share(const StepWork& work, const StepShare& share, Tensor& weights) {
  const Tensor& query = work.query;
  Tensor& context = work.context;
  for (int64_t r = share.begin; r < share.end;) {
    const std::span<const StepKeys> left =
        work.rows.subspan(static_cast<size_t>(r), static_cast<size_t>(share.end - r));
    const int64_t count = rows_together(left);
    const std::span<const StepKeys> together = left.first(static_cast<size_t>(count));
    const int64_t width = step_row_width(std::ranges::max(together, {}, &StepKeys::length).length);
    attention_step_rows(
        work.shape, {share.first_head, share.end_head, query.data<float>() + r * query.stride(0), query.stride(0),
                     left.data(), count, shared_positions(together), width, weights.data<float>(), weights.stride(0),
                     context.data<float>() + r * context.stride(0), context.stride(0)});
    for (int64_t i = 0; i < count && work.mean_weights != nullptr; ++i) {
      mean_over_heads(work.shape, weights.data<float>() + i * weights.stride(0), width,
                      left[static_cast<size_t>(i)].length,
                      work.mean_weights->data<float>() + (r + i) * work.mean_weights->stride(0));
    }
    r += count;
  }
}

// Threads take groups of neighbouring rows in rotation, since later tokens of a prompt have more keys. They share the
// heads of a single group.
void compute_with_team(const StepWork& work, base::WorkerPool& team) {
  constexpr int64_t kUnit = kStepRows;  // rows, or heads, that are computed together
  const int64_t n_rows = work.query.dim(0), n_heads = work.shape.n_heads;
  std::vector<Tensor> weights;
  for (int rank = 0; rank < team.size(); ++rank) {
    weights.push_back(Tensor::empty({kStepRows, n_heads * step_row_width(work.longest)}));
  }
  team.run([&](int rank) {
    const bool by_rows = n_rows > kUnit;
    const int64_t all = by_rows ? n_rows : n_heads;
    for (int64_t begin = rank * kUnit; begin < all; begin += team.size() * kUnit) {
      const int64_t end = std::min(begin + kUnit, all);
      const StepShare share = by_rows ? StepShare{begin, end, 0, n_heads} : StepShare{0, n_rows, begin, end};
      compute_share(work, share, weights[static_cast<size_t>(rank)]);
    }
  });
}

// The multiplications that take as long as passing work to a thread and waiting for it.
constexpr int64_t kLeastAttentionShared = int64_t{1} << 17;

bool is_worth_sharing(const StepWork& work) {
  if (TeamScope::current() == nullptr || work.mean_weights != nullptr) {
    return false;
  }
  int64_t keys = 0;
  for (const StepKeys& row : work.rows) {
    keys += row.length;
  }
  return keys * (work.query.dim(1) + work.context.dim(1)) >= kLeastAttentionShared;
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
  const int n_kv_heads = heads_of_keys(rows, n_heads);
  const Tensor shared = key_heads(n_heads, n_kv_heads);
  const StepShape shape{n_heads, query.dim(1) / n_heads, context.dim(1) / n_heads, n_kv_heads,
                        shared.defined() ? shared.data<int32_t>() : nullptr};
  const StepWork work{shape, query, rows, context, mean_weights, longest};
  if (is_worth_sharing(work)) {
    return compute_with_team(work, *TeamScope::current());
  }
  Tensor weights = Tensor::empty({kStepRows, n_heads * step_row_width(longest)});  // [rows together, H * L padded]
  compute_share(work, {0, query.dim(0), 0, n_heads}, weights);
}

}  // namespace dragoman::kernels
