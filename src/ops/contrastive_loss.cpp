#include "ops/contrastive_loss.h"

#include <cmath>
#include <numeric>
#include <vector>

#include "base/error.h"
#include "kernels/check_ids.h"
#include "ops/elementwise.h"
#include "ops/embedding.h"
#include "ops/offsets.h"
#include "ops/text_vectors.h"
#include "tensor/transfer.h"

namespace dragoman::ops {
namespace {

Tensor numbers_from(int32_t first, int32_t count) {
  std::vector<int32_t> numbers(static_cast<size_t>(count));
  std::iota(numbers.begin(), numbers.end(), first);
  return tensor::host_tensor(numbers);
}

}  // namespace

LossResult contrastive_loss(const Variable& left, const Variable& right, std::span<const int32_t> groups,
                            const ContrastiveOptions& options, std::span<const int32_t> candidates) {
  constexpr const char* kOp = "contrastive_loss";
  kernels::check_float(left.value(), kOp, "left");
  tensor::check_matrix(left.value(), left.dtype(), kOp, "left");
  tensor::check_matrix(right.value(), left.dtype(), kOp, "right");
  const int64_t rights = candidates.empty() ? left.dim(0) : right.dim(0);
  tensor::check_shape(right.value(), {rights, left.dim(1)}, kOp, "right");
  base::check_argument(options.temperature > 0.0 && std::isfinite(options.temperature),
                       "{}: temperature is {}, must be above 0 and finite", kOp, options.temperature);
  const std::vector<int32_t> ends = checked_offsets(tensor::host_tensor(groups), left.dim(0), kOp);
  const std::vector<int32_t> right_ends =
      candidates.empty() ? ends : checked_offsets(tensor::host_tensor(candidates), rights, kOp);
  base::check_argument(right_ends.size() == ends.size(), "{}: {} groups of pairs, {} of candidates", kOp,
                       ends.size() - 1, right_ends.size() - 1);
  const Variable queries = scale(unit_rows(left), 1.0 / options.temperature);  // [P, D]
  const Variable keys = unit_rows(right);                                      // [C, D]
  LossResult sum;
  for (size_t group = 0; group + 1 < ends.size(); ++group) {
    const int32_t pairs = ends[group + 1] - ends[group];
    const int32_t others = right_ends[group + 1] - right_ends[group];
    base::check_argument(others >= pairs, "{}: group {} has {} candidates for {} pairs", kOp, group, others, pairs);
    const Tensor rows = numbers_from(ends[group], pairs);               // [n]
    const Tensor right_rows = numbers_from(right_ends[group], others);  // [m]
    LossResult of_group = linear_cross_entropy(select_rows(queries, rows), select_rows(keys, right_rows), {},
                                               numbers_from(0, pairs), {0.0F, options.gradient_scale});
    kernels::settle<kernels::TokenLosses>(of_group);
    sum.smoothed += of_group.smoothed;
    sum.loss = sum.loss.defined() ? add(sum.loss, of_group.loss) : of_group.loss;
    sum.nll += of_group.nll;
    sum.correct += of_group.correct;
  }
  sum.loss = sum.loss.defined() ? sum.loss : Variable(Tensor::zeros({}, left.dtype()));
  return sum;
}

}  // namespace dragoman::ops
