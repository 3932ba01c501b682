#include "ops/logit_chunks.h"

#include <algorithm>

#include "base/error.h"
#include "kernels/backends/backend_of.h"
#include "kernels/check_ids.h"

namespace dragoman::ops {
namespace {

tensor::DType type_of_logits(const Weight& weight, bool learning) {
  const bool rounds = learning && weight.packed == nullptr && weight.precision() == Precision::kBFloat16;
  return rounds ? tensor::DType::kBFloat16 : weight.variable.dtype();
}

// Rows of bfloat16 begin at multiples of 128 bytes: products on a GPU are fast only so.
Tensor logits_of(int64_t rows, int64_t classes, tensor::DType dtype) {
  constexpr int64_t kAligned = 64;
  const int64_t width = dtype == tensor::DType::kBFloat16 ? (classes + kAligned - 1) / kAligned * kAligned : classes;
  const Tensor wide = Tensor::empty({rows, width}, dtype);
  return width == classes ? wide : wide.columns(0, classes);
}

}  // namespace

LogitChunks::LogitChunks(const Weight& weight, const Variable& bias, int64_t rows, bool learning)
    : weight_(weight),
      bias_(bias),
      logits_(logits_of(rows, weight.variable.dim(0), type_of_logits(weight, learning))) {}

int64_t LogitChunks::rows_at_once(const Tensor& hidden) {
  return kernels::backend_of(hidden).rows_of_logits();
}

void LogitChunks::check(const Tensor& hidden, const Variable& weight, const Variable& bias, const char* op) {
  kernels::check_float(hidden, op, "hidden");
  tensor::check_matrix(hidden, hidden.dtype(), op, "hidden");
  tensor::check_matrix(weight.value(), hidden.dtype(), op, "weight");
  base::check_argument(hidden.dim(1) == weight.dim(1),
                       "{}: hidden has width {}, weight [V, D] has width {}; must be equal", op, hidden.dim(1),
                       weight.dim(1));
  if (bias.defined()) {
    base::check_argument(bias.dtype() == hidden.dtype(), "{}: bias is {}, must be {}", op,
                         tensor::dtype_name(bias.dtype()), tensor::dtype_name(hidden.dtype()));
    tensor::check_shape(bias.value(), {weight.dim(0)}, op, "bias");
  }
}

Tensor LogitChunks::compute(const Tensor& hidden) {
  Tensor logits = logits_.rows(0, hidden.dim(0));  // [C, V]
  multiply_weight(hidden, weight_, Transpose::kYes, {}, logits);
  if (bias_.defined()) {
    kernels::backend_of(logits).add_to_rows(bias_.value(), logits);
  }
  return logits;
}

void LogitChunks::backward(const Tensor& hidden, const Tensor& grad_logits, Tensor* grad_hidden) const {
  if (grad_hidden != nullptr) {
    multiply_weight_backward(grad_logits, weight_, Transpose::kYes, false, *grad_hidden);
  }
  add_weight_grad(hidden, grad_logits, weight_, Transpose::kYes);
  if (bias_.requires_grad()) {
    auto [grad, accumulate] = bias_.grad_target();
    if (!accumulate) {
      grad.zero();
    }
    kernels::backend_of(grad).sum_rows_accumulate(grad_logits, grad);
  }
}

}  // namespace dragoman::ops
