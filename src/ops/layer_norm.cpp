#include "ops/layer_norm.h"

#include "kernels/backends/backend_of.h"
#include "ops/saved_norm.h"

namespace dragoman::ops {

Variable layer_norm(const Variable& x, const Variable& gain, const Variable& bias, float epsilon) {
  check_norm("layer_norm", x, gain, bias, epsilon);
  Tensor y = Tensor::empty(x.shape(), x.dtype());          // [N, D]
  Tensor stats = Tensor::empty({x.dim(0), 2}, x.dtype());  // [N, 2] mean, rstd
  const kernels::LayerNormForward norm{x.value(), gain.value(), bias.value(), epsilon, y, stats};
  kernels::backend_of(y).layer_norm(norm);
  const SavedNorm saved{x.value(), stats, gain, bias};
  return autograd::record("layer_norm", y, {&x, &gain, &bias}, [x, saved](const Tensor& grad_output) {
    x.add_grad(norm_backward(saved, grad_output, {}, nullptr));
  });
}

}  // namespace dragoman::ops
