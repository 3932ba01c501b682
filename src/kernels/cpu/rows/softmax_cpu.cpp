#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/rows/softmax_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// The two above must come first.
#include "kernels/cpu/simd/row_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman::kernels::HWY_NAMESPACE {

void softmax_kernel(const float* row, int64_t columns, float* to) {
  softmax_of_row(row, columns, to);
}

void log_softmax_kernel(const float* row, int64_t columns, float* to) {
  const RowVector shift = hn::Set(RowTag(), static_cast<float>(log_sum_exp_of_row(row, columns)));
  map_row(row, columns, to, [&](RowVector x) HWY_ATTR { return hn::Sub(x, shift); });
}

void softmax_backward_kernel(const float* probs, const float* grad_output, int64_t columns, float* grad) {
  const RowVector mean = hn::Set(RowTag(), dot_rows(probs, grad_output, columns));
  map_two_rows(probs, grad_output, columns, grad,
               [&](RowVector p, RowVector g) HWY_ATTR { return hn::Mul(p, hn::Sub(g, mean)); });
}

void log_softmax_backward_kernel(const float* log_probs, const float* grad_output, int64_t columns, float* grad) {
  const RowTag d;
  const RowVector total = hn::Set(d, sum_row(grad_output, columns, [](RowVector g) HWY_ATTR { return g; }));
  map_two_rows(log_probs, grad_output, columns, grad,
               [&](RowVector x, RowVector g) HWY_ATTR { return hn::NegMulAdd(vector_exp(d, x), total, g); });
}

}  // namespace dragoman::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "kernels/cpu/rows/softmax_cpu.h"
#include "kernels/cpu/simd/simd.h"

namespace dragoman::kernels {
namespace {

HWY_EXPORT(softmax_kernel);
HWY_EXPORT(log_softmax_kernel);
HWY_EXPORT(softmax_backward_kernel);
HWY_EXPORT(log_softmax_backward_kernel);

}  // namespace

void softmax_row(const float* row, int64_t columns, float* to) {
  DRAGOMAN_DISPATCH(softmax_kernel)(row, columns, to);
}

void log_softmax_row(const float* row, int64_t columns, float* to) {
  DRAGOMAN_DISPATCH(log_softmax_kernel)(row, columns, to);
}

void softmax_row_backward(const float* probs, const float* grad_output, int64_t columns, float* grad) {
  DRAGOMAN_DISPATCH(softmax_backward_kernel)(probs, grad_output, columns, grad);
}

void log_softmax_row_backward(const float* log_probs, const float* grad_output, int64_t columns, float* grad) {
  DRAGOMAN_DISPATCH(log_softmax_backward_kernel)(log_probs, grad_output, columns, grad);
}

}  // namespace dragoman::kernels
#endif
