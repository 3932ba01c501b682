#include "ops/row_dropout.h"

#include "kernels/backends/backend_of.h"

namespace dragoman::ops {
namespace {

Tensor drop_whole_rows(const Tensor& x, const Dropout& dropout) {
  Tensor y = Tensor::empty(x.shape(), x.dtype());  // [N, D]
  kernels::backend_of(x).dropout_whole_rows(x, dropout, y);
  return y;
}

}  // namespace

Variable row_dropout(const Variable& x, const Dropout& dropout) {
  kernels::check_dropout(dropout, "row_dropout");
  if (dropout.probability == 0.0F) {
    return x;
  }
  tensor::check_matrix(x.value(), x.dtype() == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32, "row_dropout", "x");
  return autograd::record("row_dropout", drop_whole_rows(x.value(), dropout), {&x},
                          [x, dropout](const Tensor& grad_output) {
                            x.add_grad(drop_whole_rows(grad_output, dropout));  // y = f * x, row by row:  dx = f * dy
                          });
}

}  // namespace dragoman::ops
