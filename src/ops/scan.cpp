#include "ops/scan.h"

#include <vector>

#include "kernels/backends/backend_of.h"
#include "kernels/check_ids.h"
#include "ops/offsets.h"

namespace dragoman::ops {

Variable scan(const Variable& x, const Variable& keep, const Tensor& offsets, const Tensor& initial) {
  constexpr const char* kOp = "scan";
  kernels::check_float(x.value(), kOp, "x");
  tensor::check_matrix(x.value(), x.dtype(), kOp, "x");
  tensor::check_matrix(keep.value(), x.dtype(), kOp, "keep");
  tensor::check_shape(keep.value(), x.shape(), kOp, "keep");
  const std::vector<int32_t> ends = checked_offsets(offsets, x.dim(0), kOp);
  if (initial.defined()) {
    tensor::check_matrix(initial, x.dtype(), kOp, "initial");
    tensor::check_shape(initial, {static_cast<int64_t>(ends.size()) - 1, x.dim(1)}, kOp, "initial");
  }
  Tensor y = Tensor::empty(x.shape(), x.dtype());  // [N, D]
  kernels::backend_of(y).scan({keep.value(), x.value(), initial, ends, y});
  return autograd::record(kOp, y, {&x, &keep}, [x, keep, initial, ends, y](const Tensor& grad_output) {
    Tensor grad_keep = Tensor::empty(x.shape(), x.dtype()), grad_x = Tensor::empty(x.shape(), x.dtype());
    kernels::backend_of(y).scan_backward({keep.value(), x.value(), initial, ends, y, grad_output, grad_keep, grad_x});
    keep.add_grad(grad_keep);
    x.add_grad(grad_x);
  });
}

}  // namespace dragoman::ops
