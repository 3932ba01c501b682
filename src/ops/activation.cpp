#include "ops/activation.h"

#include "kernels/backends/backend_of.h"

namespace dragoman::ops {
namespace {

DType computed_type(const Variable& x) {
  return tensor::is_bfloat16(x.value()) || x.dtype() == DType::kFloat64 ? x.dtype() : DType::kFloat32;
}

Variable apply(const char* op, const Variable& x, Activation activation, const Dropout& dropout) {
  const DType dtype = computed_type(x);
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

Variable gated_activation(const Variable& gate, const Variable& up, Activation activation, const Dropout& dropout) {
  const DType dtype = computed_type(gate);
  tensor::check_matrix(gate.value(), dtype, "gated_activation", "gate");
  tensor::check_matrix(up.value(), dtype, "gated_activation", "up");
  tensor::check_shape(up.value(), gate.shape(), "gated_activation", "up");
  kernels::check_dropout(dropout, "gated_activation");
  Tensor y = Tensor::empty(gate.shape(), dtype);  // [N, F]
  kernels::backend_of(y).gated_activation({gate.value(), up.value(), activation, dropout}, y);
  return autograd::record("gated_activation", y, {&gate, &up}, [gate, up, activation, dropout](const Tensor& grad_y) {
    Tensor grad_gate = Tensor::empty(gate.shape(), gate.dtype()), grad_up = Tensor::empty(up.shape(), up.dtype());
    kernels::backend_of(grad_y).gated_activation_backward({gate.value(), up.value(), activation, dropout}, grad_y,
                                                          {grad_gate, grad_up});
    gate.add_grad(grad_gate);
    up.add_grad(grad_up);
  });
}

}  // namespace dragoman::ops
