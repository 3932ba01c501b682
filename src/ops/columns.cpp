#include "ops/columns.h"

#include <algorithm>

#include "base/error.h"

namespace dragoman::ops {
namespace {

// Copies the first columns of each head, as many as the narrower of the two has.
void copy_heads(const Tensor& from, Tensor& to, int64_t n_heads) {
  const int64_t width_from = from.dim(1) / n_heads, width_to = to.dim(1) / n_heads;
  const int64_t width = std::min(width_from, width_to);
  for (int64_t head = 0; head < n_heads; ++head) {
    const int64_t begin = head * width_from;
    to.columns(head * width_to, head * width_to + width).copy_from(from.columns(begin, begin + width));
  }
}

}  // namespace

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

Variable widen_heads(const Variable& x, int64_t n_heads, int64_t width) {
  tensor::check_matrix(x.value(), x.dtype(), "widen_heads", "x");
  base::check_argument(n_heads > 0 && x.dim(1) % n_heads == 0 && x.dim(1) <= n_heads * width,
                       "widen_heads: x has {} columns, must have as many for each of {} heads, at most {}", x.dim(1),
                       n_heads, width);
  if (x.dim(1) == n_heads * width) {
    return x;
  }
  Tensor y = Tensor::zeros({x.dim(0), n_heads * width}, x.dtype());  // [N, H * Dh]
  copy_heads(x.value(), y, n_heads);
  return autograd::record("widen_heads", y, {&x}, [x, n_heads](const Tensor& grad_output) {
    Tensor grad = Tensor::empty(x.shape(), grad_output.dtype());  // [N, H * Dk]
    copy_heads(grad_output, grad, n_heads);
    x.add_grad(grad);
  });
}

}  // namespace dragoman::ops
