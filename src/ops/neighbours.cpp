#include "ops/neighbours.h"

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "kernels/backends/backend_of.h"
#include "kernels/check_ids.h"
#include "ops/offsets.h"

namespace dragoman::ops {
namespace {

struct Window {
  std::vector<int32_t> offsets;  // [B + 1]
  int64_t before, after;

  int64_t width() const { return before + 1 + after; }
};

// Calls visit(first, last, from, column) for each block of each sentence: the rows first .. last of y have there the
// rows of x that begin with `from`.
template <typename Visit>
void for_each_block(const Window& window, int64_t d, Visit visit) {
  for (size_t b = 0; b + 1 < window.offsets.size(); ++b) {
    const int64_t begin = window.offsets[b], end = window.offsets[b + 1];
    for (int64_t k = 0; k < window.width(); ++k) {
      const int64_t shift = k - window.before;
      const int64_t first = std::max(begin, begin - shift), last = std::min(end, end - shift);
      if (first < last) {
        visit(first, last, first + shift, k * d);
      }
    }
  }
}

}  // namespace

Variable neighbours(const Variable& x, const Tensor& offsets, int64_t before, int64_t after) {
  constexpr const char* kOp = "neighbours";
  kernels::check_float(x.value(), kOp, "x");
  tensor::check_matrix(x.value(), x.dtype(), kOp, "x");
  base::check_argument(before >= 0 && after >= 0, "neighbours: before is {}, after is {}; must be >= 0", before, after);
  const Window window{checked_offsets(offsets, x.dim(0), kOp), before, after};
  const int64_t d = x.dim(1);
  Tensor y = Tensor::zeros({x.dim(0), window.width() * d}, x.dtype());  // [N, K*D]
  for_each_block(window, d, [&](int64_t first, int64_t last, int64_t from, int64_t column) {
    y.rows(first, last).columns(column, column + d).copy_from(x.value().rows(from, from + last - first));
  });
  return autograd::record(kOp, y, {&x}, [x, window, d](const Tensor& grad_output) {
    Tensor grad = Tensor::zeros(x.shape(), x.dtype());  // [N, D]
    for_each_block(window, d, [&](int64_t first, int64_t last, int64_t from, int64_t column) {
      Tensor part = grad.rows(from, from + last - first);
      kernels::backend_of(grad).rows_accumulate(grad_output.rows(first, last).columns(column, column + d), part);
    });
    x.add_grad(grad);
  });
}

}  // namespace dragoman::ops
