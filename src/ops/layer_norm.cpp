#include "ops/layer_norm.h"

#include "base/error.h"
#include "kernels/backends/backend_of.h"
#include "ops/saved_norm.h"

namespace dragoman::ops {
namespace {

// Fills saved.stats.  @param rounded  overwritten with the result in bfloat16; null if not requested
Tensor normed(SavedNorm& saved, float epsilon, Tensor* rounded) {
  Tensor y = Tensor::empty(saved.x.shape(), saved.x.dtype());         // [N, D]
  saved.stats = Tensor::empty({saved.x.dim(0), 2}, saved.x.dtype());  // [N, 2] mean, rstd
  const Tensor bias = value_of_bias(saved.bias);
  const kernels::LayerNormForward norm{saved.x, saved.gain.value(), bias, epsilon, y, saved.stats, rounded, saved.kind};
  kernels::backend_of(y).layer_norm(norm);
  return y;
}

Variable norm(const char* op, const Variable& x, SavedNorm saved, float epsilon) {
  check_norm(op, x, saved.gain, saved.bias, epsilon);
  saved.x = x.value();
  const Tensor y = normed(saved, epsilon, nullptr);
  return autograd::record(op, y, {&x, &saved.gain, &saved.bias}, [x, saved](const Tensor& grad_output) {
    x.add_grad(norm_backward(saved, grad_output, {}, nullptr));
  });
}

// Each head [Dh] as a row, in the type that norms compute in.
Tensor heads_of(const Tensor& x, int64_t width) {
  const Tensor wide = is_bfloat16(x) ? in_type(x, DType::kFloat32) : x;
  return (wide.is_contiguous() ? wide : wide.clone()).reshape({x.dim(0) * (x.dim(1) / width), width});
}

}  // namespace

Variable layer_norm(const Variable& x, const Variable& gain, const Variable& bias, float epsilon) {
  return norm("layer_norm", x, {{}, {}, gain, bias}, epsilon);
}

Variable rms_norm(const Variable& x, const Variable& gain, float epsilon) {
  return norm("rms_norm", x, {{}, {}, gain, {}, NormKind::kRms}, epsilon);
}

Variable head_rms_norm(const Variable& x, const Variable& gain, float epsilon) {
  const bool rounds = is_bfloat16(x.value());
  tensor::check_matrix(x.value(), rounds || x.dtype() == DType::kFloat64 ? x.dtype() : DType::kFloat32, "head_rms_norm",
                       "x");
  const int64_t width = gain.value().rank() == 1 ? gain.dim(0) : 0;
  base::check_argument(width > 0 && x.dim(1) % width == 0,
                       "head_rms_norm: x has width {}, must be a multiple of the width of gain, {}", x.dim(1), width);
  SavedNorm saved{heads_of(x.value(), width), {}, gain, {}, NormKind::kRms};
  check_norm("head_rms_norm", Variable(saved.x), gain, {}, epsilon);
  Tensor rounded = rounds ? Tensor::empty(saved.x.shape(), DType::kBFloat16) : Tensor();
  const Tensor heads = normed(saved, epsilon, rounds ? &rounded : nullptr);  // [N*H, Dh]
  const Tensor y = (rounds ? rounded : heads).reshape(x.shape());
  return autograd::record("head_rms_norm", y, {&x, &gain}, [x, saved, width](const Tensor& grad_output) {
    const Tensor grad_x = norm_backward(saved, heads_of(grad_output, width), {}, nullptr);
    x.add_grad(in_type(grad_x.reshape(x.shape()), x.dtype()));
  });
}

}  // namespace dragoman::ops
