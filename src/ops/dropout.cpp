#include "ops/dropout.h"

#include "base/error.h"
#include "ops/reference/dropout.h"

namespace dragoman::ops {
namespace {

using tensor::DType;

Tensor drop(const Tensor& x, const Dropout& dropout) {
  Tensor y = Tensor::empty(x.shape(), x.dtype());  // [N, D]
  x.dtype() == DType::kFloat64 ? reference::dropout_rows(x, dropout, y) : dropout_rows(x, dropout, y);
  return y;
}

}  // namespace

void check_dropout(const Dropout& dropout, const char* op) {
  base::check_argument(dropout.probability >= 0.0F && dropout.probability < 1.0F,
                       "{}: probability is {}, must be in [0, 1)", op, dropout.probability);
}

Variable dropout(const Variable& x, const Dropout& dropout) {
  check_dropout(dropout, "dropout");
  if (dropout.probability == 0.0F) {
    return x;
  }
  tensor::check_matrix(x.value(), x.dtype() == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32, "dropout", "x");
  return autograd::record("dropout", drop(x.value(), dropout), {&x},
                          [x = x.without_value(), dropout](const Tensor& grad_output) {
                            x.add_grad(drop(grad_output, dropout));  // y = x * scales:  dx = dy * scales
                          });
}

}  // namespace dragoman::ops
