#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/rows/embedding_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// The two above must come first.
#include "kernels/cpu/rows/embedding_cpu.h"
#include "kernels/cpu/simd/simd.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void scaled_row_kernel(const float* from, float scale, int64_t width, float* to) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t column = 0;
  for (; column + lanes <= width; column += lanes) {
    hn::StoreU(hn::Mul(hn::Set(d, scale), hn::LoadU(d, from + column)), d, to + column);
  }
  for (; column < width; ++column) {
    to[column] = scale * from[column];
  }
}

void scaled_row_accumulate_kernel(const float* from, float scale, int64_t width, float* to) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t column = 0;
  for (; column + lanes <= width; column += lanes) {
    const auto sum = hn::MulAdd(hn::Set(d, scale), hn::LoadU(d, from + column), hn::LoadU(d, to + column));
    hn::StoreU(sum, d, to + column);
  }
  for (; column < width; ++column) {
    to[column] += scale * from[column];
  }
}

}  // namespace dragoman::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dragoman::kernels {
namespace {

HWY_EXPORT(scaled_row_kernel);
HWY_EXPORT(scaled_row_accumulate_kernel);

}  // namespace

void scaled_row(const float* from, float scale, int64_t width, float* to) {
  DRAGOMAN_DISPATCH(scaled_row_kernel)(from, scale, width, to);
}

void scaled_row_accumulate(const float* from, float scale, int64_t width, float* to) {
  DRAGOMAN_DISPATCH(scaled_row_accumulate_kernel)(from, scale, width, to);
}

}  // namespace dragoman::kernels
#endif
