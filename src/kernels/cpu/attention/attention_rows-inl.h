// Rows of a head in bfloat16, read and written. Included once per instruction set from files that Highway compiles
// several times; hence no #pragma once.
#if defined(DRAGOMAN_KERNELS_ATTENTION_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef DRAGOMAN_KERNELS_ATTENTION_ROWS_INL_H_
#undef DRAGOMAN_KERNELS_ATTENTION_ROWS_INL_H_
#else
#define DRAGOMAN_KERNELS_ATTENTION_ROWS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "kernels/cpu/attention/attention_head.h"
#include "kernels/cpu/simd/row_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman::kernels::HWY_NAMESPACE {

// Prefetches the same columns of an equal number of following rows, which belong to the next sentence. The hardware
// prefetcher does not follow pieces of rows this short.
HWY_INLINE void ask_for_next(MatrixView<const BFloat16> rows, int64_t count, int64_t columns) {
  for (int64_t row = count; row < 2 * count; ++row) {
    const auto* const first = reinterpret_cast<const char*>(rows.row(row));
    for (int64_t byte = 0; byte < columns * static_cast<int64_t>(sizeof(BFloat16)); byte += 64) {
      __builtin_prefetch(first + byte, 0, 2);
    }
  }
}

HWY_INLINE void round_rows(MatrixView<const float> from, int64_t rows, int64_t columns, MatrixView<BFloat16> to) {
  ask_for_next({to.data, to.stride}, rows, columns);
  for (int64_t row = 0; row < rows; ++row) {
    map_row(from.row(row), columns, to.row(row), [](RowVector v) HWY_ATTR { return v; });
  }
}

}  // namespace dragoman::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
