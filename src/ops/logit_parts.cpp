#include "ops/logit_parts.h"

#include "base/error.h"
#include "ops/vector_math.h"

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
  const ProductKernel kernel = weight.packed->forward().kernel();
  return kernel == ProductKernel::kBFloat16Amx || kernel == ProductKernel::kBFloat16EmulatedAmx;
}

void LogitParts::compute(const Tensor& hidden, const TakePart& take) const {
  const Tensor bias = bias_.defined() ? bias_.value() : Tensor();
  weight_.packed->forward().multiply_in_parts(hidden, bias, [&](int64_t, int64_t column, const Tensor& part) {
    base::check_argument(part.dim(0) == hidden.dim(0), "logit_parts: {} tokens came in parts of {}, must be at most {}",
                         hidden.dim(0), part.dim(0), kRows);
    Tensor logits = part;  // [C, .]
    take(column, logits);
  });
}

LogitParts::Backward::Backward(const LogitParts& logits, const Tensor& hidden, Tensor* grad_hidden)
    : weight_(logits.weight_),
      hidden_(hidden),
      grad_hidden_(grad_hidden),
      weight_grad_(target_of(logits.weight_.variable)),
      bias_grad_(target_of(logits.bias_)) {}

void LogitParts::Backward::add(int64_t column, const Tensor& grad_part) {
  const int64_t end = column + grad_part.dim(1);
  if (grad_hidden_ != nullptr) {  // dhidden = dlogits W
    weight_.packed->backward()->multiply_rows(grad_part, column, column > 0, *grad_hidden_);
  }
  if (weight_grad_.tensor.defined()) {  // dW = dlogits^T hidden
    Tensor rows = weight_grad_.tensor.rows(column, end);
    (weight_grad_.accumulate ? gemm_accumulate : gemm)(grad_part, Transpose::kYes, hidden_, Transpose::kNo, rows,
                                                       weight_.precision());
  }
  if (bias_grad_.tensor.defined()) {
    Tensor sums = bias_grad_.tensor.rows(column, end);
    if (!bias_grad_.accumulate) {
      sums.zero();
    }
    for (int64_t n = 0; n < grad_part.dim(0); ++n) {
      add_in_place(sums.span<float>(), grad_part.rows(n, n + 1).span<float>());
    }
  }
}

}  // namespace dragoman::ops
