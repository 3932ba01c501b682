#include "ops/cross_entropy.h"

#include "base/error.h"
#include "kernels/backends/backend_of.h"
#include "kernels/check_ids.h"

namespace dragoman::ops {

Tensor loss_value(const Tensor& pending, std::span<const double> weights, double known, DType dtype) {
  if (!pending.defined()) {
    return Tensor::full({}, known, dtype);
  }
  Tensor value = Tensor::empty({}, dtype);
  kernels::backend_of(value).weighted_sum(pending, weights, value);
  return value;
}

Variable cross_entropy(const Variable& logits, const Tensor& targets, const LossOptions& options) {
  kernels::check_float(logits.value(), "cross_entropy", "logits");
  tensor::check_matrix(logits.value(), logits.dtype(), "cross_entropy", "logits");
  kernels::check_ids(targets, logits.dim(0), logits.dim(1), "cross_entropy", "targets");
  kernels::check_loss_options(options, "cross_entropy");
  kernels::TokenLosses losses;
  kernels::backend_of(logits.value()).cross_entropy(logits.value(), targets, options.label_smoothing, losses);
  const auto backward = [=](const Tensor& grad_loss) {
    LossOptions scaled = options;
    scaled.gradient_scale *= grad_loss.item();
    Tensor grad = logits.value().clone();  // [N, V]
    kernels::TokenLosses unused;
    kernels::backend_of(grad).cross_entropy_gradient(grad, targets, scaled, unused);
    logits.add_grad(grad);
  };
  const double weights[] = {options.gradient_scale, 0.0, 0.0};
  Tensor loss = loss_value(losses.pending, weights, options.gradient_scale * losses.smoothed, logits.dtype());
  Variable result = autograd::record("cross_entropy", std::move(loss), {&logits}, backward);
  result.take_gradient_on_host();
  return result;
}

}  // namespace dragoman::ops
