#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/cross_entropy_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// The two above must come first.
#include <algorithm>

#include "ops/cross_entropy_cpu.h"
#include "ops/row_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman::ops::HWY_NAMESPACE {

RowLoss cross_entropy_kernel(const float* logits, int64_t n_classes, int32_t target, float label_smoothing) {
  const float largest = largest_of_row(logits, n_classes);
  RowLoss loss;
  loss.log_sum_exp = log_sum_exp_of_row(logits, n_classes, largest);
  loss.nll = loss.log_sum_exp - logits[target];
  loss.smoothed = loss.nll;
  if (label_smoothing > 0) {
    const double sum = sum_row(logits, n_classes, [](RowVector x) HWY_ATTR { return x; });
    const double mean_nll = loss.log_sum_exp - sum / static_cast<double>(n_classes);
    loss.smoothed = (1.0 - label_smoothing) * loss.nll + label_smoothing * mean_nll;
  }
  loss.correct = logits[target] == largest && std::find(logits, logits + target, largest) == logits + target;
  return loss;
}

void cross_entropy_gradient_kernel(const float* logits, int64_t n_classes, const RowGradient& options, float* grad) {
  const RowTag d;
  const RowVector log_sum_exp = hn::Set(d, static_cast<float>(options.log_sum_exp));
  const RowVector scale = hn::Set(d, static_cast<float>(options.scale));
  const double spread = options.scale * options.label_smoothing / static_cast<double>(n_classes);
  const RowVector offset = hn::Set(d, static_cast<float>(spread));
  map_row(logits, n_classes, grad,
          [&](RowVector x) HWY_ATTR { return hn::MulSub(vector_exp(d, hn::Sub(x, log_sum_exp)), scale, offset); });
  grad[options.target] -= static_cast<float>(options.scale * (1.0 - options.label_smoothing));
}

}  // namespace dragoman::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "ops/simd.h"

namespace dragoman::ops {
namespace {

HWY_EXPORT(cross_entropy_kernel);
HWY_EXPORT(cross_entropy_gradient_kernel);

}  // namespace

RowLoss cross_entropy_row(const float* logits, int64_t n_classes, int32_t target, float label_smoothing) {
  return DRAGOMAN_DISPATCH(cross_entropy_kernel)(logits, n_classes, target, label_smoothing);
}

void cross_entropy_row_gradient(const float* logits, int64_t n_classes, const RowGradient& options, float* grad) {
  DRAGOMAN_DISPATCH(cross_entropy_gradient_kernel)(logits, n_classes, options, grad);
}

}  // namespace dragoman::ops
#endif
