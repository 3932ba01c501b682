#include "ops/row_dropout.h"

#include "kernels/cpu/rows/embedding_cpu.h"
#include "kernels/reference/dropout.h"
#include "kernels/reference/embedding.h"

namespace dragoman::ops {
namespace {

// One name for both dtypes: the float32 kernel and the float64 reference.
using kernels::scaled_row;
using kernels::reference::scaled_row;
template <typename T>
void drop_rows(const Tensor& x, const Dropout& dropout, Tensor& y) {
  for (int64_t n = 0; n < x.dim(0); ++n) {
    const auto factor = static_cast<T>(kernels::reference::dropout_factor(dropout, n, 0));
    scaled_row(x.data<T>() + n * x.stride(0), factor, x.dim(1), y.data<T>() + n * y.stride(0));
  }
}

Tensor drop_whole_rows(const Tensor& x, const Dropout& dropout) {
  Tensor y = Tensor::empty(x.shape(), x.dtype());  // [N, D]
  (x.dtype() == DType::kFloat64 ? drop_rows<double> : drop_rows<float>)(x, dropout, y);
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
