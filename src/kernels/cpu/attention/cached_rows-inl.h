// Reading of cached keys and values, float32, bfloat16 or int8 (as whole numbers), for one instruction set. Include
// after highway.h, inside foreach_target.
#if defined(DRAGOMAN_KERNELS_CACHED_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef DRAGOMAN_KERNELS_CACHED_ROWS_INL_H_
#undef DRAGOMAN_KERNELS_CACHED_ROWS_INL_H_
#else
#define DRAGOMAN_KERNELS_CACHED_ROWS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstring>

#include "kernels/cpu/simd/row_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

HWY_INLINE RowVector load_cached(const float* from) {
  return hn::LoadU(RowTag(), from);
}

HWY_INLINE RowVector load_cached(const BFloat16* from) {
  return load_widened(from);
}

HWY_INLINE RowVector load_cached(const int8_t* from) {
  const hn::RebindToSigned<RowTag> whole;
  const hn::Rebind<int8_t, RowTag> bytes;
  return hn::ConvertTo(RowTag(), hn::PromoteTo(whole, hn::LoadU(bytes, from)));
}

// The first `count` numbers of a vector, zeros behind them.
template <class T>
HWY_INLINE RowVector load_cached_part(const T* from, int64_t count) {
  alignas(64) T part[hn::MaxLanes(RowTag())] = {};
  std::memcpy(part, from, static_cast<size_t>(count) * sizeof(T));
  return load_cached(part);
}

}  // namespace dragoman::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
