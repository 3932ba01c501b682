#include "ops/layer_norm.h"

#include "base/error.h"
#include "kernels/cpu/rows/dropout_cpu.h"
#include "kernels/cpu/rows/layer_norm_cpu.h"
#include "kernels/reference/dropout.h"
#include "kernels/reference/layer_norm.h"

namespace dragoman::ops {
namespace {

DType float_type(const Variable& variable) {
  return variable.dtype() == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
}

void check_vector(const Variable& variable, const Variable& x, const char* op, const char* argument) {
  tensor::check_shape(variable.value(), {x.dim(1)}, op, argument);
  base::check_argument(variable.dtype() == x.dtype(), "{}: {} is {}, x is {}", op, argument,
                       tensor::dtype_name(variable.dtype()), tensor::dtype_name(x.dtype()));
}

void check_norm(const char* op, const Variable& x, const Variable& gain, const Variable& bias, float epsilon) {
  tensor::check_matrix(x.value(), float_type(x), op, "x");
  check_vector(gain, x, op, "gain");
  check_vector(bias, x, op, "bias");
  base::check_argument(epsilon >= 0.0F, "{}: epsilon is {}, must be >= 0", op, epsilon);
}

void check_residual(const char* op, const Variable& residual, const Variable& sublayer, const Dropout& dropout) {
  tensor::check_matrix(residual.value(), float_type(residual), op, "residual");
  const bool rounded = is_bfloat16(sublayer.value()) && residual.dtype() == DType::kFloat32;
  tensor::check_matrix(sublayer.value(), rounded ? DType::kBFloat16 : float_type(residual), op, "sublayer");
  tensor::check_shape(sublayer.value(), residual.shape(), op, "sublayer");
  kernels::check_dropout(dropout, op);
}

// What the backward of a layer norm needs; the sum or input x, its statistics, and where gradients go.
struct SavedNorm {
  Tensor x;      // [N, D]
  Tensor stats;  // [N, 2]
  Variable gain, bias;
};

// Gradients of gain and bias are gathered here and then added to those of the variables.
struct NormGradients {
  explicit NormGradients(const SavedNorm& saved)
      : x(Tensor::empty(saved.x.shape(), saved.x.dtype())),
        gain(Tensor::empty(saved.gain.shape(), saved.x.dtype())),
        bias(Tensor::empty(saved.gain.shape(), saved.x.dtype())) {}

  Tensor x;     // [N, D]
  Tensor gain;  // [D]
  Tensor bias;  // [D]
};

// y = (x - mean) / deviation * gain + bias; adds to the gradients of gain and bias, returns that of x:
//   n = (x - mean) / deviation,  g = dy * gain,  dx = (g - mean(g) - n * mean(g * n)) / deviation
// With dropout, grad_dropped [N, D] = dx * mask.
Tensor norm_backward(const SavedNorm& saved, const Tensor& grad_output, const Dropout& dropout, Tensor* grad_dropped) {
  NormGradients grads(saved);
  const kernels::LayerNormBackward norm{saved.x, saved.stats, saved.gain.value(), grad_output,
                                        grads.x, grads.gain,  grads.bias};
  if (saved.x.dtype() == DType::kFloat64) {
    kernels::reference::layer_norm_backward(norm);
    if (grad_dropped != nullptr) {
      kernels::reference::dropout_rows(grads.x, dropout, *grad_dropped);
    }
  } else if (grad_dropped != nullptr) {
    kernels::residual_dropout_layer_norm_backward_float32(norm, dropout, *grad_dropped);
  } else {
    kernels::layer_norm_backward_float32(norm);
  }
  saved.gain.add_grad(grads.gain);
  saved.bias.add_grad(grads.bias);
  return grads.x;
}

Tensor in_type(const Tensor& grad, DType dtype) {
  return grad.dtype() == dtype ? grad : grad.to(dtype);
}

// s = residual + sublayer * scales:  d residual = ds,  d sublayer = ds * scales
void residual_backward(const Variable& residual, const Variable& sublayer, const Dropout& dropout,
                       const Tensor& grad_sum) {
  residual.add_grad(grad_sum);
  if (!sublayer.requires_grad()) {
    return;
  }
  if (dropout.probability == 0.0F) {
    sublayer.add_grad(in_type(grad_sum, sublayer.dtype()));
    return;
  }
  Tensor grad_sublayer = Tensor::empty(grad_sum.shape(), sublayer.dtype());  // [N, D]
  grad_sum.dtype() == DType::kFloat64 ? kernels::reference::dropout_rows(grad_sum, dropout, grad_sublayer)
                                      : kernels::dropout_rows(grad_sum, dropout, grad_sublayer);
  sublayer.add_grad(grad_sublayer);
}

}  // namespace

Variable layer_norm(const Variable& x, const Variable& gain, const Variable& bias, float epsilon) {
  check_norm("layer_norm", x, gain, bias, epsilon);
  Tensor y = Tensor::empty(x.shape(), x.dtype());          // [N, D]
  Tensor stats = Tensor::empty({x.dim(0), 2}, x.dtype());  // [N, 2]
  const kernels::LayerNormForward norm{x.value(), gain.value(), bias.value(), epsilon, y, stats};
  x.dtype() == DType::kFloat64 ? kernels::reference::layer_norm(norm) : kernels::layer_norm_float32(norm);
  const SavedNorm saved{x.value(), stats, gain, bias};
  return autograd::record("layer_norm", y, {&x, &gain, &bias}, [x, saved](const Tensor& grad_output) {
    x.add_grad(norm_backward(saved, grad_output, {}, nullptr));
  });
}

Variable residual_dropout(const Variable& residual, const Variable& sublayer, const Dropout& dropout) {
  check_residual("residual_dropout", residual, sublayer, dropout);
  Tensor sum = Tensor::empty(residual.shape(), residual.dtype());  // [N, D]
  sum.dtype() == DType::kFloat64
      ? kernels::reference::residual_dropout(residual.value(), sublayer.value(), dropout, sum)
      : kernels::residual_dropout_float32(residual.value(), sublayer.value(), dropout, sum);
  return autograd::record("residual_dropout", sum, {&residual, &sublayer},
                          [residual, sublayer, dropout](const Tensor& grad_output) {
                            residual_backward(residual, sublayer, dropout, grad_output);
                          });
}

Variable residual_dropout_layer_norm(const Variable& residual, const Variable& sublayer, const Variable& gain,
                                     const Variable& bias, float epsilon, const Dropout& dropout) {
  check_residual("residual_dropout_layer_norm", residual, sublayer, dropout);
  check_norm("residual_dropout_layer_norm", residual, gain, bias, epsilon);
  const DType dtype = residual.dtype();
  Tensor sum = Tensor::empty(residual.shape(), dtype);        // [N, D]
  Tensor y = Tensor::empty(residual.shape(), dtype);          // [N, D]
  Tensor stats = Tensor::empty({residual.dim(0), 2}, dtype);  // [N, 2]
  Tensor rounded = is_bfloat16(sublayer.value()) ? Tensor::empty(residual.shape(), DType::kBFloat16) : Tensor();
  const kernels::LayerNormForward norm{
      sum, gain.value(), bias.value(), epsilon, y, stats, rounded.defined() ? &rounded : nullptr};
  if (dtype == DType::kFloat64) {
    kernels::reference::residual_dropout(residual.value(), sublayer.value(), dropout, sum);
    kernels::reference::layer_norm(norm);
  } else {
    kernels::residual_dropout_layer_norm_float32(residual.value(), sublayer.value(), dropout, sum, norm);
  }
  const SavedNorm saved{sum, stats, gain, bias};
  const auto backward = [residual, sublayer, dropout, saved](const Tensor& grad_output) {
    const bool drops = dropout.probability > 0.0F;
    Tensor grad_sublayer = drops ? Tensor::empty(saved.x.shape(), sublayer.dtype()) : Tensor();
    const Tensor grad_sum = norm_backward(saved, grad_output, dropout, drops ? &grad_sublayer : nullptr);
    residual.add_grad(grad_sum);
    sublayer.add_grad(drops ? grad_sublayer : in_type(grad_sum, sublayer.dtype()));
  };
  Variable result = autograd::record("residual_dropout_layer_norm", y, {&residual, &sublayer, &gain, &bias}, backward);
  result.set_rounded(rounded);
  return result;
}

}  // namespace dragoman::ops
