#include "ops/dropout.h"

#include "base/error.h"
#include "kernels/backends/backend_of.h"

namespace dragoman::ops {
namespace {

Tensor drop(const Tensor& x, const Dropout& dropout) {
  Tensor y = Tensor::empty(x.shape(), x.dtype());  // [N, D]
  kernels::backend_of(x).dropout_rows(x, dropout, y);
  return y;
}

}  // namespace

Variable dropout(const Variable& x, const Dropout& dropout) {
  kernels::check_dropout(dropout, "dropout");
  if (dropout.probability == 0.0F) {
    return x;
  }
  tensor::check_matrix(x.value(), x.dtype() == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32, "dropout", "x");
  return autograd::record("dropout", drop(x.value(), dropout), {&x}, [x, dropout](const Tensor& grad_output) {
    x.add_grad(drop(grad_output, dropout));  // y = x * scales:  dx = dy * scales
  });
}

}  // namespace dragoman::ops
