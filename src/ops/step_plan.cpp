#include "ops/step_plan.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "kernels/backends/backend_of.h"
#include "ops/offsets.h"
#include "tensor/transfer.h"

namespace dragoman::ops {
namespace {

std::vector<int32_t> inverse_of(std::span<const int32_t> order) {
  std::vector<int32_t> inverse(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    inverse[static_cast<size_t>(order[i])] = static_cast<int32_t>(i);
  }
  return inverse;
}

}  // namespace

StepPlan::StepPlan(const Tensor& offsets, int64_t n_rows, Direction direction, const char* op) {
  const std::vector<int32_t> ends = checked_offsets(offsets, n_rows, op);
  const auto length = [&](int32_t b) { return ends[static_cast<size_t>(b) + 1] - ends[static_cast<size_t>(b)]; };
  std::vector<int32_t>& order = sorted_;
  order.resize(ends.size() - 1);
  std::vector<int32_t> last(ends.size() - 1), rows;
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater<>(), length);
  has_empty_ = !order.empty() && length(order.back()) == 0;
  rows.reserve(static_cast<size_t>(n_rows));
  first_ = {0};
  size_t active = order.size();
  for (int32_t step = 0; static_cast<int64_t>(rows.size()) < n_rows; ++step) {
    while (length(order[active - 1]) <= step) {
      --active;
    }
    for (size_t k = 0; k < active; ++k) {
      const auto b = static_cast<size_t>(order[k]);
      rows.push_back(direction == Direction::kForward ? ends[b] + step : ends[b + 1] - 1 - step);
    }
    first_.push_back(static_cast<int64_t>(rows.size()));
  }
  for (size_t b = 0; b < last.size(); ++b) {
    last[b] = direction == Direction::kForward ? ends[b + 1] - 1 : ends[b];
  }
  rows_ = tensor::host_tensor(rows);
  places_ = tensor::host_tensor(inverse_of(rows));
  order_ = tensor::host_tensor(order);
  ranks_ = tensor::host_tensor(inverse_of(order));
  last_ = tensor::host_tensor(last);
}

std::span<const int32_t> StepPlan::sentences_of(int64_t step) const {
  return std::span(sorted_).first(static_cast<size_t>(active(step)));
}

Tensor gathered(const Tensor& x, const Tensor& ids) {
  Tensor y = Tensor::empty({ids.dim(0), x.dim(1)}, x.dtype());
  kernels::backend_of(y).gather_rows(x, ids, 1.0F, y);
  return y;
}

}  // namespace dragoman::ops
