#include "kernels/cpu/rows/rotation_cpu.h"

#include "kernels/cpu/simd/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/rows/rotation_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/cpu/simd/row_math-inl.h"
#include "kernels/row_of.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman::kernels::HWY_NAMESPACE {
namespace {

// The pairs (i, half + i) of one head.
template <bool kInverse, class Element>
HWY_INLINE void rotate_head(const Element* x, const float* cosines, int64_t half, Element* to) {
  const float* sines = cosines + half;
  for_each_vector(half, [&](auto vector, int64_t i) HWY_ATTR {
    const RowVector cosine = vector.load(cosines + i), sine = vector.load(sines + i);
    const RowVector first = vector.load(x + i), second = vector.load(x + half + i);
    const RowVector turned = hn::Mul(second, sine), turned_back = hn::Mul(first, sine);
    if constexpr (kInverse) {
      vector.store(hn::MulAdd(first, cosine, turned), to + i);
      vector.store(hn::MulSub(second, cosine, turned_back), to + half + i);
    } else {
      vector.store(hn::MulSub(first, cosine, turned), to + i);
      vector.store(hn::MulAdd(second, cosine, turned_back), to + half + i);
    }
  });
}

template <bool kInverse, class Element>
void rotate_heads(const Rotation& rotation, Tensor& y) {
  const int64_t width = rotation.table.dim(1), columns = y.dim(1);
  const int32_t* positions = rotation.positions.data<int32_t>();
  for (int64_t row = 0; row < y.dim(0); ++row) {
    const float* cosines = row_of<float>(rotation.table, positions[row]);
    const Element* x = row_of<Element>(rotation.x, row);
    Element* to = row_of<Element>(y, row);
    for (int64_t column = 0; column < columns; column += width) {
      rotate_head<kInverse>(x + column, cosines, width / 2, to + column);
    }
  }
}

void rotate_rows(const Rotation& rotation, Tensor& y) {
  if (is_bfloat16(y)) {
    rotation.inverse ? rotate_heads<true, BFloat16>(rotation, y) : rotate_heads<false, BFloat16>(rotation, y);
  } else {
    rotation.inverse ? rotate_heads<true, float>(rotation, y) : rotate_heads<false, float>(rotation, y);
  }
}

}  // namespace
}  // namespace dragoman::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dragoman::kernels {

HWY_EXPORT(rotate_rows);

void rotate_cpu(const Rotation& rotation, Tensor& y) {
  DRAGOMAN_DISPATCH(rotate_rows)(rotation, y);
}

}  // namespace dragoman::kernels
#endif
