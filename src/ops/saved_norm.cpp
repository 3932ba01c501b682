#include "ops/saved_norm.h"

#include "base/error.h"
#include "kernels/backends/backend_of.h"

namespace dragoman::ops {
namespace {

void check_vector(const Variable& variable, const Variable& x, const char* op, const char* argument) {
  tensor::check_shape(variable.value(), {x.dim(1)}, op, argument);
  base::check_argument(variable.dtype() == x.dtype(), "{}: {} is {}, x is {}", op, argument,
                       tensor::dtype_name(variable.dtype()), tensor::dtype_name(x.dtype()));
}

// Gradients of one backward. Those of gain and bias are then added to the gradients of the variables.
struct NormGradients {
  explicit NormGradients(const SavedNorm& saved)
      : x(Tensor::empty(saved.x.shape(), saved.x.dtype())),
        gain(Tensor::empty(saved.gain.shape(), saved.x.dtype())),
        bias(saved.bias.defined() ? Tensor::empty(saved.gain.shape(), saved.x.dtype()) : Tensor()) {}

  Tensor x;     // [N, D]
  Tensor gain;  // [D]
  Tensor bias;  // [D]; undefined for none
};

}  // namespace

void check_norm(const char* op, const Variable& x, const Variable& gain, const Variable& bias, float epsilon) {
  tensor::check_matrix(x.value(), x.dtype() == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32, op, "x");
  check_vector(gain, x, op, "gain");
  if (bias.defined()) {
    check_vector(bias, x, op, "bias");
  }
  base::check_argument(epsilon >= 0.0F, "{}: epsilon is {}, must be >= 0", op, epsilon);
}

Tensor value_of_bias(const Variable& bias) {
  return bias.defined() ? bias.value() : Tensor();
}

Tensor in_type(const Tensor& x, DType dtype) {
  if (x.dtype() == dtype || x.device().is_host()) {
    return x.dtype() == dtype ? x : x.to(dtype);
  }
  Tensor converted = Tensor::empty(x.shape(), dtype);
  kernels::backend_of(x).copy_rounded(x, converted);
  return converted;
}

Tensor norm_backward(const SavedNorm& saved, const Tensor& grad_output, const Dropout& dropout, Tensor* grad_dropped) {
  NormGradients grads(saved);
  const kernels::LayerNormBackward norm{saved.x, saved.stats, saved.gain.value(), grad_output,
                                        grads.x, grads.gain,  grads.bias,         saved.kind};
  const kernels::Backend& backend = kernels::backend_of(saved.x);
  if (grad_dropped != nullptr) {
    backend.residual_dropout_layer_norm_backward(norm, dropout, *grad_dropped);
  } else {
    backend.layer_norm_backward(norm);
  }
  saved.gain.add_grad(grads.gain);
  if (saved.bias.defined()) {
    saved.bias.add_grad(grads.bias);
  }
  return grads.x;
}

}  // namespace dragoman::ops
