// Sums over the classes of a row of logits that comes in parts. Included once per instruction set from files that
// Highway compiles several times; hence no #pragma once.
#if defined(DRAGOMAN_KERNELS_ROW_SUMS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef DRAGOMAN_KERNELS_ROW_SUMS_INL_H_
#undef DRAGOMAN_KERNELS_ROW_SUMS_INL_H_
#else
#define DRAGOMAN_KERNELS_ROW_SUMS_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "kernels/cpu/simd/row_math-inl.h"
#include "kernels/cross_entropy.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman::kernels::HWY_NAMESPACE {

constexpr int kSums = 4;  // independent sums hide the latency of additions

// What the first pass over a row finds.
struct RowScan {
  float largest;
  float sum;
};

HWY_INLINE RowScan scan_row(const float* row, int64_t columns) {
  const RowTag d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const RowVector lowest = hn::Set(d, -std::numeric_limits<float>::infinity()), zero = hn::Zero(d);
  RowVector largest[kSums] = {lowest, lowest, lowest, lowest}, sums[kSums] = {zero, zero, zero, zero};
  int64_t c = 0;
  for (; c + kSums * lanes <= columns; c += kSums * lanes) {
    HWY_UNROLL(4)
    for (int i = 0; i < kSums; ++i) {
      const RowVector x = hn::LoadU(d, row + c + i * lanes);
      largest[i] = hn::Max(x, largest[i]);
      sums[i] = hn::Add(sums[i], x);
    }
  }
  for (; c < columns; c += lanes) {
    const auto mask = hn::FirstN(d, static_cast<size_t>(columns - c));
    const RowVector x = hn::MaskedLoad(mask, d, row + c);
    largest[0] = hn::Max(hn::IfThenElse(mask, x, lowest), largest[0]);
    sums[0] = hn::Add(sums[0], x);
  }
  return {hn::GetLane(hn::MaxOfLanes(d, hn::Max(hn::Max(largest[0], largest[1]), hn::Max(largest[2], largest[3])))),
          hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(sums[0], sums[1]), hn::Add(sums[2], sums[3]))))};
}

// What exponentials are taken relative to; rows of -infinity alone have no largest.
template <class Float>
HWY_INLINE Float shift_of(Float largest) {
  return std::isinf(largest) && largest < 0 ? Float{0} : largest;
}

// What is to be done with the exponentials of a part of a row.
struct PartOfRow {
  float shift;     // they are taken relative to this
  double rescale;  // brings sums of earlier parts to it
};

// Adds a part of a row to its sums, but for the exponentials.
HWY_INLINE PartOfRow begin_part(const float* logits, int64_t columns, int64_t target, RowSums& sums) {
  const RowScan scan = scan_row(logits, columns);
  const double before = sums.largest, largest = static_cast<double>(scan.largest);
  sums.largest = std::max(before, largest);
  const double shift = shift_of(sums.largest), rescale = std::exp(before - shift);
  sums.sum *= rescale;
  sums.total += static_cast<double>(scan.sum);
  sums.correct = sums.correct && sums.largest == before;
  if (target >= 0 && target < columns) {
    sums.wanted = static_cast<double>(logits[target]);
    sums.correct = sums.wanted == sums.largest && sums.largest > before &&
                   std::find(logits, logits + target, logits[target]) == logits + target;
  }
  return {static_cast<float>(shift), rescale};
}

}  // namespace dragoman::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
