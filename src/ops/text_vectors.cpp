#include "ops/text_vectors.h"

#include <vector>

#include "base/error.h"
#include "kernels/backends/backend_of.h"
#include "kernels/check_ids.h"
#include "ops/offsets.h"

namespace dragoman::ops {

Variable mean_of_texts(const Variable& x, const Tensor& offsets) {
  constexpr const char* kOp = "mean_of_texts";
  kernels::check_float(x.value(), kOp, "x");
  tensor::check_matrix(x.value(), x.dtype(), kOp, "x");
  const std::vector<int32_t> ends = checked_offsets(offsets, x.dim(0), kOp);
  for (size_t text = 0; text + 1 < ends.size(); ++text) {
    base::check_argument(ends[text] < ends[text + 1], "{}: text {} has no rows, of which there is no mean", kOp, text);
  }
  Tensor means = Tensor::empty({static_cast<int64_t>(ends.size()) - 1, x.dim(1)}, x.dtype());  // [B, D]
  kernels::backend_of(means).mean_of_texts(x.value(), ends, means);
  return autograd::record(kOp, std::move(means), {&x}, [x, ends](const Tensor& grad_means) {
    Tensor grad_x = Tensor::empty(x.shape(), x.dtype());  // [N, D]
    kernels::backend_of(grad_x).mean_of_texts_backward(grad_means, ends, grad_x);
    x.add_grad(grad_x);
  });
}

Variable unit_rows(const Variable& x) {
  constexpr const char* kOp = "unit_rows";
  kernels::check_float(x.value(), kOp, "x");
  tensor::check_matrix(x.value(), x.dtype(), kOp, "x");
  Tensor y = Tensor::empty(x.shape(), x.dtype());  // [N, D]
  kernels::backend_of(y).unit_rows(x.value(), y);
  return autograd::record(kOp, std::move(y), {&x}, [x](const Tensor& grad_y) {
    Tensor grad_x = Tensor::empty(x.shape(), x.dtype());  // [N, D]
    kernels::backend_of(grad_x).unit_rows_backward(x.value(), grad_y, grad_x);
    x.add_grad(grad_x);
  });
}

}  // namespace dragoman::ops
