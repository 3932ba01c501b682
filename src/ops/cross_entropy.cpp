#include "ops/cross_entropy.h"

#include "base/error.h"
#include "kernels/check_ids.h"
#include "kernels/cpu/output/cross_entropy_cpu.h"
#include "kernels/reference/cross_entropy.h"

namespace dragoman::ops {
namespace {

// One name for both dtypes: the float32 kernel and the float64 reference.
using kernels::cross_entropy_row;
using kernels::cross_entropy_row_gradient;
using kernels::reference::cross_entropy_row;
using kernels::reference::cross_entropy_row_gradient;
// The sum of the smoothed losses.
template <typename T>
double forward(const Tensor& logits, const Tensor& targets, const LossOptions& options) {
  double sum = 0;
  for (int64_t n = 0; n < logits.dim(0); ++n) {
    sum += cross_entropy_row(logits.data<T>() + n * logits.stride(0), logits.dim(1), targets.data<int32_t>()[n],
                             options.label_smoothing)
               .smoothed;
  }
  return sum;
}

template <typename T>
Tensor backward(const Tensor& logits, const Tensor& targets, const LossOptions& options) {
  Tensor grad = logits.clone();  // [N, V]
  for (int64_t n = 0; n < grad.dim(0); ++n) {
    cross_entropy_row_gradient(grad.data<T>() + n * grad.stride(0), grad.dim(1), targets.data<int32_t>()[n], options);
  }
  return grad;
}

}  // namespace

Variable cross_entropy(const Variable& logits, const Tensor& targets, const LossOptions& options) {
  kernels::check_float(logits.value(), "cross_entropy", "logits");
  tensor::check_matrix(logits.value(), logits.dtype(), "cross_entropy", "logits");
  kernels::check_ids(targets, logits.dim(0), logits.dim(1), "cross_entropy", "targets");
  kernels::check_loss_options(options, "cross_entropy");
  const bool exact = logits.dtype() == DType::kFloat64;
  const double sum = (exact ? forward<double> : forward<float>)(logits.value(), targets, options);
  return autograd::record(
      "cross_entropy", Tensor::full({}, options.gradient_scale * sum, logits.dtype()), {&logits},
      [=](const Tensor& grad_loss) {
        LossOptions scaled = options;
        scaled.gradient_scale *= grad_loss.item();
        logits.add_grad((exact ? backward<double> : backward<float>)(logits.value(), targets,
                                                                     scaled));  // of forward
      });
}

}  // namespace dragoman::ops
