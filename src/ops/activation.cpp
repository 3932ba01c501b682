#include "ops/activation.h"

#include "kernels/backends/backend_of.h"

namespace dragoman::ops {
namespace {

Variable apply(const char* op, const Variable& x, Activation activation, const Dropout& dropout) {
  const DType dtype = tensor::is_bfloat16(x.value()) || x.dtype() == DType::kFloat64 ? x.dtype() : DType::kFloat32;
  tensor::check_matrix(x.value(), dtype, op, "x");
  Tensor y = Tensor::empty(x.shape(), dtype);  // [N, D]
  kernels::backend_of(y).activation(x.value(), activation, dropout, y);
  const Tensor saved = activation == Activation::kRelu ? y : x.value();
  return autograd::record(op, y, {&x}, [x, saved, activation, dropout, dtype](const Tensor& grad_output) {
    Tensor grad_x = Tensor::empty(saved.shape(), dtype);  // y = f(x) * scales:  dx = dy * scales * f'(x)
    kernels::backend_of(grad_x).activation_backward(saved, grad_output, activation, dropout, grad_x);
    x.add_grad(grad_x);
  });
}

}  // namespace

Variable activation(const Variable& x, Activation activation) {
  return activation == Activation::kNone ? x : apply("activation", x, activation, {});
}

Variable activation_dropout(const Variable& x, Activation activation, const Dropout& dropout) {
  kernels::check_dropout(dropout, "activation_dropout");
  if (dropout.probability == 0.0F) {
    return ops::activation(x, activation);
  }
  return apply("activation_dropout", x, activation, dropout);
}

}  // namespace dragoman::ops
