#include "ops/columns.h"

namespace dragoman::ops {

Variable concatenate_columns(const Variable& left, const Variable& right) {
  constexpr const char* kOp = "concatenate_columns";
  tensor::check_matrix(left.value(), left.dtype(), kOp, "left");
  tensor::check_matrix(right.value(), left.dtype(), kOp, "right");
  tensor::check_shape(right.value(), {left.dim(0), right.dim(1)}, kOp, "right");
  const int64_t border = left.dim(1), width = border + right.dim(1);
  Tensor y = Tensor::empty({left.dim(0), width}, left.dtype());  // [N, A + B]
  y.columns(0, border).copy_from(left.value());
  y.columns(border, width).copy_from(right.value());
  return autograd::record(kOp, y, {&left, &right}, [left, right, border, width](const Tensor& grad_output) {
    left.add_grad(grad_output.columns(0, border).clone());
    right.add_grad(grad_output.columns(border, width).clone());
  });
}

}  // namespace dragoman::ops
