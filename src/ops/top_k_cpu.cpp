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

float largest_of_kernel(const float* row, int64_t n) {
  return largest_of_row(row, n);
}

float sum_of_exponentials_kernel(const float* row, int64_t n, float shift) {
  const RowTag d;
  const RowVector shifts = hn::Set(d, shift), log2_e = hn::Set(d, kLog2E);
  return sum_row(row, n, [&](RowVector x) HWY_ATTR { return vector_exp2(d, hn::Mul(hn::Sub(x, shifts), log2_e)); });
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
HWY_EXPORT(largest_of_kernel);
HWY_EXPORT(sum_of_exponentials_kernel);

}  // namespace

int64_t first_above(const float* row, int64_t begin, int64_t n, float threshold) {
  return DRAGOMAN_DISPATCH(first_above_kernel)(row, begin, n, threshold);
}

float largest_of(const float* row, int64_t n) {
  return DRAGOMAN_DISPATCH(largest_of_kernel)(row, n);
}

float sum_of_exponentials(const float* row, int64_t n, float shift) {
  return DRAGOMAN_DISPATCH(sum_of_exponentials_kernel)(row, n, shift);
}

}  // namespace dragoman::ops
#endif
