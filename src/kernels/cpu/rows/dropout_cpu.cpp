#include "kernels/cpu/rows/dropout_cpu.h"

#include "kernels/cpu/simd/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/rows/dropout_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/cpu/simd/dropout-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman::kernels::HWY_NAMESPACE {
namespace {

void fill_row_scales(const Dropout& dropout, int64_t row, int64_t columns, float* scales) {
  RowMasks masks(dropout, columns);
  masks.make(row);
  for_each_vector(columns, [&](auto vector, int64_t c) HWY_ATTR { vector.store(masks.factors(c), scales + c); });
}

template <class Element>
void drop(const Tensor& x, const Dropout& dropout, Tensor& y) {
  RowMasks masks(dropout, x.dim(1));
  for (int64_t row = 0; row < x.dim(0); ++row) {
    masks.make(row);
    const float* from = x.data<float>() + row * x.stride(0);
    Element* to = y.data<Element>() + row * y.stride(0);
    for_each_vector(x.dim(1), [&](auto vector, int64_t c)
                                  HWY_ATTR { vector.store(hn::Mul(vector.load(from + c), masks.factors(c)), to + c); });
  }
}

void drop_rows(const Tensor& x, const Dropout& dropout, Tensor& y) {
  (is_bfloat16(y) ? drop<BFloat16> : drop<float>)(x, dropout, y);
}

}  // namespace
}  // namespace dragoman::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dragoman::kernels {

HWY_EXPORT(fill_row_scales);
HWY_EXPORT(drop_rows);

void dropout_row_scales(const Dropout& dropout, int64_t row, int64_t columns, float* scales) {
  DRAGOMAN_DISPATCH(fill_row_scales)(dropout, row, columns, scales);
}

void dropout_rows(const Tensor& x, const Dropout& dropout, Tensor& y) {
  DRAGOMAN_DISPATCH(drop_rows)(x, dropout, y);
}

}  // namespace dragoman::kernels
#endif
