#include "ops/logit_parts.h"

#include <algorithm>

#include "base/error.h"
#include "kernels/backends/backend_of.h"
#include "kernels/cpu/attention/attention_step_cpu.h"
#include "ops/product_grad.h"

namespace dragoman::ops {
namespace {

autograd::GradTarget target_of(const Variable& variable) {
  return variable.defined() && variable.requires_grad() ? variable.grad_target() : autograd::GradTarget{};
}

}  // namespace

bool LogitParts::pays(const Weight& weight, bool learning) {
  if (weight.packed == nullptr || (learning && weight.packed->backward() == nullptr)) {
    return false;
  }
  return kernels::has_bfloat16_tiles(weight.packed->forward().kernel());
}

void LogitParts::compute(const Tensor& hidden, const TakePart& take) const {
  base::check_argument(hidden.dim(0) <= kTokens, "logit_parts: {} tokens at once, must be at most {}", hidden.dim(0),
                       kTokens);
  const PackedMatrix& weight = weight_.packed->forward();
  const Tensor bias = bias_.defined() ? bias_.value() : Tensor();
  Tensor room = Tensor::empty({std::min(kRows, hidden.dim(0)), kernels::kPartColumns});
  for (int64_t column = 0; column < weight.columns(); column += kernels::kPartColumns) {
    const int64_t width = std::min(kernels::kPartColumns, weight.columns() - column);
    for (int64_t row = 0; row < hidden.dim(0); row += kRows) {
      const int64_t end = std::min(row + kRows, hidden.dim(0));
      Tensor part = room.rows(0, end - row).columns(0, width);
      weight.multiply_columns(hidden.rows(row, end), bias, column, part);
      take(row, column, part);
    }
  }
}

LogitParts::Backward::Backward(const LogitParts& logits, const Tensor& hidden, Tensor* grad_hidden)
    : weight_(logits.weight_),
      hidden_(hidden),
      grad_hidden_(grad_hidden),
      weight_grad_(target_of(logits.weight_.variable)),
      bias_grad_(target_of(logits.bias_)),
      rounded_(Tensor::empty({hidden.dim(0), kernels::kPartColumns}, tensor::DType::kBFloat16)) {}

void LogitParts::Backward::add(int64_t row, int64_t column, const Tensor& grad_part) {
  const int64_t end = row + grad_part.dim(0);
  Tensor rounded = rounded_.rows(row, end).columns(0, grad_part.dim(1));
  for (int64_t n = 0; n < grad_part.dim(0); ++n) {
    kernels::round_row(grad_part.data<float>() + n * grad_part.stride(0), grad_part.dim(1),
                       rounded.data<tensor::BFloat16>() + n * rounded.stride(0));
  }
  if (grad_hidden_ != nullptr) {  // dhidden = dlogits W
    Tensor grad = grad_hidden_->rows(row, end);
    weight_.packed->backward()->multiply_rows(rounded, column, column > 0, grad);
  }
  add_to_bias(row, column, grad_part);
  if (end == hidden_.dim(0)) {
    add_columns(column, rounded_.columns(0, grad_part.dim(1)));
  }
}

// Sums of what is not rounded yet.
void LogitParts::Backward::add_to_bias(int64_t row, int64_t column, const Tensor& grad_part) {
  if (!bias_grad_.tensor.defined()) {
    return;
  }
  Tensor sums = bias_grad_.tensor.rows(column, column + grad_part.dim(1));
  if (row == 0 && !bias_grad_.accumulate) {
    sums.zero();
  }
  kernels::backend_of(sums).sum_rows_accumulate(grad_part, sums);
}

// The gradient of the weight of these classes, from those of all tokens.
void LogitParts::Backward::add_columns(int64_t column, const Tensor& grad_columns) {
  const int64_t end = column + grad_columns.dim(1);
  if (weight_grad_.tensor.defined()) {  // dW = dlogits^T hidden
    gemm_to_grad({weight_grad_.tensor.rows(column, end), weight_grad_.accumulate}, grad_columns, Transpose::kYes,
                 hidden_, Transpose::kNo, weight_.precision());
  }
}

}  // namespace dragoman::ops
