#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/top_k_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// The two above must come first.
#include <cstring>

#include "ops/row_math-inl.h"
#include "ops/top_k_cpu.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman::ops::HWY_NAMESPACE {

void insert_larger_kernel(const float* row, int64_t begin, int64_t n, int32_t first_id, const FallingList& list) {
  const RowTag d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto take = [&](int64_t at) {
    if (row[at] > list.last()) {  // which may have risen since the vector was compared
      list.insert(row[at], first_id + static_cast<int32_t>(at));
    }
  };
  RowVector last = hn::Set(d, list.last());
  const auto above = [&](int64_t at) HWY_ATTR { return hn::Gt(hn::LoadU(d, row + at), last); };  // false for NaN
  const auto take_vector = [&](int64_t at) HWY_ATTR {
    uint8_t bytes[8] = {};  // as StoreMaskBits wants them
    hn::StoreMaskBits(d, above(at), bytes);
    uint64_t lanes_above = 0;
    std::memcpy(&lanes_above, bytes, sizeof bytes);
    for (; lanes_above != 0; lanes_above &= lanes_above - 1) {
      take(at + __builtin_ctzll(lanes_above));
    }
    last = hn::Set(d, list.last());
  };
  int64_t at = begin;
  for (; at + 4 * lanes <= n; at += 4 * lanes) {  // four vectors to one branch
    if (hn::AllFalse(
            d, hn::Or(hn::Or(above(at), above(at + lanes)), hn::Or(above(at + 2 * lanes), above(at + 3 * lanes))))) {
      continue;
    }
    for (int64_t vector = 0; vector < 4; ++vector) {
      take_vector(at + vector * lanes);
    }
  }
  for (; at + lanes <= n; at += lanes) {
    take_vector(at);
  }
  for (; at < n; ++at) {
    take(at);
  }
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

namespace dragoman::ops {
namespace {

HWY_EXPORT(insert_larger_kernel);
HWY_EXPORT(largest_of_kernel);
HWY_EXPORT(sum_of_exponentials_kernel);

}  // namespace

void insert_larger(const float* row, int64_t begin, int64_t n, int32_t first_id, const FallingList& list) {
  DRAGOMAN_DISPATCH(insert_larger_kernel)(row, begin, n, first_id, list);
}

float largest_of(const float* row, int64_t n) {
  return DRAGOMAN_DISPATCH(largest_of_kernel)(row, n);
}

float sum_of_exponentials(const float* row, int64_t n, float shift) {
  return DRAGOMAN_DISPATCH(sum_of_exponentials_kernel)(row, n, shift);
}

}  // namespace dragoman::ops
#endif
