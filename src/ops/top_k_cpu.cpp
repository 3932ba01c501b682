#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/top_k_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// The two above must come first.
#include "ops/row_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman::ops::HWY_NAMESPACE {

int64_t first_above_kernel(const float* row, int64_t begin, int64_t n, float threshold) {
  const RowTag d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const RowVector thresholds = hn::Set(d, threshold);
  int64_t at = begin;
  const auto above = [&](int64_t vector) HWY_ATTR {
    return hn::Gt(hn::LoadU(d, row + at + vector * lanes), thresholds);  // false for NaN
  };
  for (; at + 4 * lanes <= n; at += 4 * lanes) {  // four vectors to one branch
    if (!hn::AllFalse(d, hn::Or(hn::Or(above(0), above(1)), hn::Or(above(2), above(3))))) {
      break;
    }
  }
  for (; at + lanes <= n; at += lanes) {
    const intptr_t lane = hn::FindFirstTrue(d, above(0));
    if (lane >= 0) {
      return at + lane;
    }
  }
  while (at < n && !(row[at] > threshold)) {
    ++at;
  }
  return at;
}

double log_sum_exp_kernel(const float* row, int64_t n) {
  return log_sum_exp_of_row(row, n);
}

}  // namespace dragoman::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "ops/simd.h"
#include "ops/top_k.h"
#include "ops/top_k_cpu.h"

namespace dragoman::ops {
namespace {

HWY_EXPORT(first_above_kernel);
HWY_EXPORT(log_sum_exp_kernel);

}  // namespace

int64_t first_above(const float* row, int64_t begin, int64_t n, float threshold) {
  return DRAGOMAN_DISPATCH(first_above_kernel)(row, begin, n, threshold);
}

double log_sum_exp(const float* row, int64_t n) {
  return DRAGOMAN_DISPATCH(log_sum_exp_kernel)(row, n);
}

}  // namespace dragoman::ops
#endif
