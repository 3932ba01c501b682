#include "ops/logit_chunks.h"

#include <algorithm>

#include "base/error.h"
#include "kernels/check_ids.h"
#include "kernels/cpu/rows/embedding_cpu.h"
#include "kernels/reference/embedding.h"

namespace dragoman::ops {
namespace {

// One name for both dtypes: the float32 kernel and the float64 reference.
using kernels::scaled_row_accumulate;
using kernels::reference::scaled_row_accumulate;
template <typename T>
void add_to_rows(const Tensor& bias, Tensor& rows) {
  for (int64_t n = 0; n < rows.dim(0); ++n) {
    scaled_row_accumulate(bias.data<T>(), T{1}, rows.dim(1), rows.data<T>() + n * rows.stride(0));
  }
}

template <typename T>
void sum_of_rows_accumulate(const Tensor& rows, Tensor& sum) {
  for (int64_t n = 0; n < rows.dim(0); ++n) {
    scaled_row_accumulate(rows.data<T>() + n * rows.stride(0), T{1}, rows.dim(1), sum.data<T>());
  }
}

}  // namespace

LogitChunks::LogitChunks(const Weight& weight, const Variable& bias, int64_t rows)
    : weight_(weight),
      bias_(bias),
      logits_(Tensor::empty({std::min(kRows, rows), weight.variable.dim(0)}, weight.variable.dtype())) {}

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
    (logits.dtype() == DType::kFloat64 ? add_to_rows<double> : add_to_rows<float>)(bias_.value(), logits);
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
    (grad.dtype() == DType::kFloat64 ? sum_of_rows_accumulate<double> : sum_of_rows_accumulate<float>)(grad_logits,
                                                                                                       grad);
  }
}

}  // namespace dragoman::ops
