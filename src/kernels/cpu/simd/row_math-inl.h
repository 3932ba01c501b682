// Included once per instruction set from files that Highway compiles several times; hence no #pragma once.
#if defined(DRAGOMAN_KERNELS_ROW_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef DRAGOMAN_KERNELS_ROW_MATH_INL_H_
#undef DRAGOMAN_KERNELS_ROW_MATH_INL_H_
#else
#define DRAGOMAN_KERNELS_ROW_MATH_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "kernels/cpu/simd/bfloat16-inl.h"
#include "kernels/cpu/simd/exp-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using RowTag = hn::ScalableTag<float>;
using RowVector = hn::Vec<RowTag>;

/// Loads and stores a vector of a row for for_each_vector: the whole vector, or its first lanes only. Rows of bfloat16
/// are widened when loaded and rounded when stored.
struct WholeVector {
  HWY_INLINE RowVector load(const float* from) const { return hn::LoadU(RowTag(), from); }
  HWY_INLINE RowVector load(const BFloat16* from) const { return load_widened(from); }
  HWY_INLINE void store(RowVector v, float* to) const { hn::StoreU(v, RowTag(), to); }
  HWY_INLINE void store(RowVector v, BFloat16* to) const { store_rounded(v, to); }
};

struct PartVector {
  hn::Mask<RowTag> mask;
  HWY_INLINE RowVector load(const float* from) const { return hn::MaskedLoad(mask, RowTag(), from); }
  HWY_INLINE RowVector load(const BFloat16* from) const {
    BFloat16 part[hn::MaxLanes(RowTag())] = {};
    std::copy_n(from, count(), part);
    return load_widened(part);
  }
  HWY_INLINE void store(RowVector v, float* to) const { hn::BlendedStore(v, mask, RowTag(), to); }
  HWY_INLINE void store(RowVector v, BFloat16* to) const {
    BFloat16 part[hn::MaxLanes(RowTag())];
    store_rounded(v, part);
    std::copy_n(part, count(), to);
  }

 private:
  HWY_INLINE size_t count() const { return hn::CountTrue(RowTag(), mask); }
};

/// Calls visit(WholeVector or PartVector, first column) for every vector of a row, in order.
template <class Visit>
HWY_INLINE void for_each_vector(int64_t columns, Visit visit) {
  const RowTag d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t c = 0;
  for (; c + lanes <= columns; c += lanes) {
    visit(WholeVector(), c);
  }
  if (c < columns) {
    visit(PartVector{hn::FirstN(d, static_cast<size_t>(columns - c))}, c);
  }
}

/// Returns: the sum of `f(vector)` over a row, added in float lanes and a fixed order. Four independent sums hide the
/// latency of the additions.
template <class F>
HWY_INLINE float sum_row(const float* row, int64_t columns, F f) {
  const RowTag d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  RowVector sum0 = hn::Zero(d), sum1 = sum0, sum2 = sum0, sum3 = sum0;
  int64_t c = 0;
  for (; c + 4 * lanes <= columns; c += 4 * lanes) {
    sum0 = hn::Add(sum0, f(hn::LoadU(d, row + c)));
    sum1 = hn::Add(sum1, f(hn::LoadU(d, row + c + lanes)));
    sum2 = hn::Add(sum2, f(hn::LoadU(d, row + c + 2 * lanes)));
    sum3 = hn::Add(sum3, f(hn::LoadU(d, row + c + 3 * lanes)));
  }
  for (; c + lanes <= columns; c += lanes) {
    sum0 = hn::Add(sum0, f(hn::LoadU(d, row + c)));
  }
  if (c < columns) {
    const auto mask = hn::FirstN(d, static_cast<size_t>(columns - c));
    sum1 = hn::Add(sum1, hn::IfThenElseZero(mask, f(hn::MaskedLoad(mask, d, row + c))));
  }
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(sum0, sum1), hn::Add(sum2, sum3))));
}

/// Computes to[c] = f(from[c]), lane by lane, for rows of float32 or bfloat16. `to` may be `from`.
template <class From, class To, class F>
HWY_INLINE void map_row(const From* from, int64_t columns, To* to, F f) {
  for_each_vector(columns, [&](auto vector, int64_t c) HWY_ATTR { vector.store(f(vector.load(from + c)), to + c); });
}

/// Computes to[c] = f(left[c], right[c]), lane by lane. `to` may be one of the inputs.
template <class Left, class Right, class To, class F>
HWY_INLINE void map_two_rows(const Left* left, const Right* right, int64_t columns, To* to, F f) {
  for_each_vector(columns, [&](auto vector, int64_t c)
                               HWY_ATTR { vector.store(f(vector.load(left + c), vector.load(right + c)), to + c); });
}

/// Returns: sum_c left[c] * right[c], added in float lanes and a fixed order.
HWY_INLINE float dot_rows(const float* left, const float* right, int64_t columns) {
  const RowTag d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  RowVector sum0 = hn::Zero(d), sum1 = sum0;
  int64_t c = 0;
  for (; c + 2 * lanes <= columns; c += 2 * lanes) {
    sum0 = hn::MulAdd(hn::LoadU(d, left + c), hn::LoadU(d, right + c), sum0);
    sum1 = hn::MulAdd(hn::LoadU(d, left + c + lanes), hn::LoadU(d, right + c + lanes), sum1);
  }
  for (; c < columns; c += lanes) {
    const auto mask = hn::FirstN(d, static_cast<size_t>(columns - c));
    sum0 = hn::MulAdd(hn::MaskedLoad(mask, d, left + c), hn::MaskedLoad(mask, d, right + c), sum0);
  }
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(sum0, sum1)));
}

/// Returns: the largest element; -infinity for no columns. NaN may or may not be skipped.
HWY_INLINE float largest_of_row(const float* row, int64_t columns) {
  const RowTag d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const RowVector lowest = hn::Set(d, -std::numeric_limits<float>::infinity());
  RowVector largest0 = lowest, largest1 = lowest;
  int64_t c = 0;
  for (; c + 2 * lanes <= columns; c += 2 * lanes) {
    largest0 = hn::Max(hn::LoadU(d, row + c), largest0);
    largest1 = hn::Max(hn::LoadU(d, row + c + lanes), largest1);
  }
  for (; c < columns; c += lanes) {
    const auto mask = hn::FirstN(d, static_cast<size_t>(columns - c));
    largest0 = hn::Max(hn::IfThenElse(mask, hn::MaskedLoad(mask, d, row + c), lowest), largest0);
  }
  return hn::GetLane(hn::MaxOfLanes(d, hn::Max(largest0, largest1)));
}

/// Returns: log sum exp of a row; NaN if an element is NaN or +infinity; -infinity for no columns or only -infinity.
HWY_INLINE double log_sum_exp_of_row(const float* row, int64_t columns) {
  const RowTag d;
  const float largest = largest_of_row(row, columns);
  const float shift = std::isinf(largest) && largest < 0 ? 0.0F : largest;
  const RowVector shifts = hn::Set(d, shift);
  const float sum = sum_row(row, columns, [&](RowVector x) HWY_ATTR { return vector_exp(d, hn::Sub(x, shifts)); });
  return static_cast<double>(shift) + std::log(static_cast<double>(sum));
}

constexpr float kLog2E = 1.44269504F;

// to = exponential(row - largest) / sum of these, of at least one number.
template <class Exponential>
HWY_INLINE void normalise_exponentials(const float* row, int64_t columns, float* to, Exponential exponential) {
  const RowTag d;
  const RowVector largest = hn::Set(d, largest_of_row(row, columns));
  map_row(row, columns, to, [&](RowVector x) HWY_ATTR { return exponential(hn::Sub(x, largest)); });
  const float sum = sum_row(to, columns, [](RowVector x) HWY_ATTR { return x; });
  const RowVector inverse = hn::Set(d, 1.0F / sum);
  map_row(to, columns, to, [&](RowVector x) HWY_ATTR { return hn::Mul(x, inverse); });
}

/// Computes to = softmax(row). `to` may be `row`. Small probabilities have a small relative error.
/// Requires: at least one column.
HWY_INLINE void softmax_of_row(const float* row, int64_t columns, float* to) {
  normalise_exponentials(row, columns, to, [](RowVector x) HWY_ATTR { return vector_exp(RowTag(), x); });
}

/// Computes to = softmax(row) for attention weights, with an error relative to the largest weight and half the work.
HWY_INLINE void attention_softmax_of_row(const float* row, int64_t columns, float* to) {
  const RowVector log2_e = hn::Set(RowTag(), kLog2E);
  normalise_exponentials(row, columns, to,
                         [&](RowVector x) HWY_ATTR { return vector_exp2(RowTag(), hn::Mul(x, log2_e)); });
}

}  // namespace dragoman::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
