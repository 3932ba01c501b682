#include "ops/reshape.h"

#include "base/error.h"

namespace dragoman::ops {

Variable reshape(const Variable& x, const tensor::Shape& shape) {
  base::check_argument(x.shape().size() == shape.size(),
                       "reshape: x is {}, has {} elements, {} has {}; sizes must be equal", x.shape(), x.shape().size(),
                       shape, shape.size());
  base::check_argument(x.value().is_contiguous(), "reshape: x is a strided view of shape {}, must be contiguous",
                       x.shape());
  return autograd::record("reshape", x.value().reshape(shape), {&x},
                          [x](const Tensor& grad_output) { x.add_grad(grad_output.reshape(x.shape())); });
}

}  // namespace dragoman::ops
