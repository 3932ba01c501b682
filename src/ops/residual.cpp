#include "ops/residual.h"

#include "kernels/backends/backend_of.h"
#include "ops/saved_norm.h"

namespace dragoman::ops {
namespace {

DType float_type(const Variable& variable) {
  return variable.dtype() == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
}

void check_residual(const char* op, const Variable& residual, const Variable& sublayer, const Dropout& dropout) {
  tensor::check_matrix(residual.value(), float_type(residual), op, "residual");
  const bool rounded = is_bfloat16(sublayer.value()) && residual.dtype() == DType::kFloat32;
  tensor::check_matrix(sublayer.value(), rounded ? DType::kBFloat16 : float_type(residual), op, "sublayer");
  tensor::check_shape(sublayer.value(), residual.shape(), op, "sublayer");
  kernels::check_dropout(dropout, op);
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
  kernels::backend_of(grad_sum).dropout_rows(grad_sum, dropout, grad_sublayer);
  sublayer.add_grad(grad_sublayer);
}

// The norm of residual + dropout(sublayer).  @param saved  of the norm, without x and stats
Variable normed_sum(const char* op, const Variable& residual, const Variable& sublayer, SavedNorm saved, float epsilon,
                    const Dropout& dropout) {
  check_residual(op, residual, sublayer, dropout);
  check_norm(op, residual, saved.gain, saved.bias, epsilon);
  const DType dtype = residual.dtype();
  saved.x = Tensor::empty(residual.shape(), dtype);                                   // [N, D] the sum
  saved.stats = Tensor::empty({residual.dim(0), 2}, dtype);                           // [N, 2] mean, rstd
  Tensor y = Tensor::empty(residual.shape(), dtype);                                  // [N, D]
  const bool rounds = is_bfloat16(sublayer.value()) || residual.rounded().defined();  // products will take it so
  Tensor rounded = rounds ? Tensor::empty(residual.shape(), DType::kBFloat16) : Tensor();
  const Tensor bias = value_of_bias(saved.bias);
  const kernels::LayerNormForward norm{
      saved.x, saved.gain.value(), bias, epsilon, y, saved.stats, rounded.defined() ? &rounded : nullptr, saved.kind};
  kernels::backend_of(y).residual_dropout_layer_norm(residual.value(), sublayer.value(), dropout, saved.x, norm);
  const auto backward = [residual, sublayer, dropout, saved](const Tensor& grad_output) {
    const bool drops = dropout.probability > 0.0F;
    Tensor grad_sublayer = drops ? Tensor::empty(saved.x.shape(), sublayer.dtype()) : Tensor();
    const Tensor grad_sum = norm_backward(saved, grad_output, dropout, drops ? &grad_sublayer : nullptr);
    residual.add_grad(grad_sum);
    sublayer.add_grad(drops ? grad_sublayer : in_type(grad_sum, sublayer.dtype()));
  };
  Variable result = autograd::record(op, y, {&residual, &sublayer, &saved.gain, &saved.bias}, backward);
  result.set_rounded(rounded);
  return result;
}

}  // namespace

Variable residual_dropout(const Variable& residual, const Variable& sublayer, const Dropout& dropout) {
  check_residual("residual_dropout", residual, sublayer, dropout);
  Tensor sum = Tensor::empty(residual.shape(), residual.dtype());  // [N, D]
  kernels::backend_of(sum).residual_dropout(residual.value(), sublayer.value(), dropout, sum);
  return autograd::record("residual_dropout", sum, {&residual, &sublayer},
                          [residual, sublayer, dropout](const Tensor& grad_output) {
                            residual_backward(residual, sublayer, dropout, grad_output);
                          });
}

Variable residual_dropout_layer_norm(const Variable& residual, const Variable& sublayer, const Variable& gain,
                                     const Variable& bias, float epsilon, const Dropout& dropout) {
  return normed_sum("residual_dropout_layer_norm", residual, sublayer, {{}, {}, gain, bias}, epsilon, dropout);
}

Variable residual_dropout_rms_norm(const Variable& residual, const Variable& sublayer, const Variable& gain,
                                   float epsilon, const Dropout& dropout) {
  return normed_sum("residual_dropout_rms_norm", residual, sublayer, {{}, {}, gain, {}, NormKind::kRms}, epsilon,
                    dropout);
}

}  // namespace dragoman::ops
