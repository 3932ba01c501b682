#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/output/top_k_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// The two above must come first.
#include <algorithm>
#include <cstring>
#include <limits>

#include "kernels/cpu/output/top_k_cpu.h"
#include "kernels/cpu/simd/row_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman::kernels::HWY_NAMESPACE {

// Calls take(at) for those of four vectors from `at` on that are larger than last(), one vector after the other; most
// often there is none, which costs one branch.
template <class Last, class Take>
HWY_INLINE void visit_larger(const float* row, int64_t begin, int64_t n, const Last& last, const Take& take) {
  const RowTag d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto visit = [&](int64_t at, auto larger) HWY_ATTR {
    uint8_t bytes[8] = {};  // as StoreMaskBits wants them
    hn::StoreMaskBits(d, larger, bytes);
    uint64_t set = 0;
    std::memcpy(&set, bytes, sizeof bytes);
    for (; set != 0; set &= set - 1) {
      take(at + __builtin_ctzll(set));
    }
  };
  const auto larger = [&](int64_t at) HWY_ATTR { return hn::Gt(hn::LoadU(d, row + at), last()); };  // false for NaN
  int64_t at = begin;
  for (; at + 4 * lanes <= n; at += 4 * lanes) {
    const auto some =
        hn::Or(hn::Or(larger(at), larger(at + lanes)), hn::Or(larger(at + 2 * lanes), larger(at + 3 * lanes)));
    for (int64_t vector = 0; vector < 4 && !hn::AllFalse(d, some); ++vector) {
      visit(at + vector * lanes, larger(at + vector * lanes));
    }
  }
  for (; at < n; at += lanes) {
    const auto inside = hn::FirstN(d, static_cast<size_t>(n - at));
    visit(at, hn::And(inside, hn::Gt(hn::MaskedLoad(inside, d, row + at), last())));
  }
}

// A list of at most a vector, in registers. What drops out of the list stays in the lanes behind it.
class ListInRegisters {
  using Ids = hn::RebindToSigned<RowTag>;
  using Indices = decltype(hn::SetTableIndices(RowTag(), static_cast<const int32_t*>(nullptr)));

 public:
  explicit ListInRegisters(const FallingList& list)
      : list_(list), used_(hn::FirstN(RowTag(), static_cast<size_t>(list.size))) {
    const RowTag d;
    alignas(64) int32_t before[hn::MaxLanes(RowTag())] = {};
    for (size_t lane = 1; lane < hn::Lanes(d); ++lane) {
      before[lane] = static_cast<int32_t>(lane) - 1;
    }
    before_ = hn::SetTableIndices(d, before);
    std::fill_n(before, hn::Lanes(d), list.size - 1);
    last_ = hn::SetTableIndices(d, before);
    values_ = hn::IfThenElse(used_, hn::MaskedLoad(used_, d, list.values),
                             hn::Set(d, -std::numeric_limits<float>::infinity()));
    ids_ = hn::MaskedLoad(hn::RebindMask(Ids(), used_), Ids(), list.ids);
  }
  HWY_INLINE RowVector last() const { return hn::TableLookupLanes(values_, last_); }
  // FallingList::insert without branches. A value that is not larger than the last lands behind the list.
  HWY_INLINE void insert(float value, int32_t id) {
    const RowTag d;
    const RowVector inserted = hn::Set(d, value);
    const auto stays = hn::Ge(values_, inserted);  // the first lanes
    const RowVector moved = hn::IfThenElse(hn::FirstN(d, 1), inserted, hn::TableLookupLanes(values_, before_));
    const auto moved_ids = hn::BitCast(Ids(), hn::TableLookupLanes(hn::BitCast(d, ids_), before_));
    const auto follows = hn::Ge(moved, inserted);  // the lanes that stay and the next
    ids_ = hn::IfThenElse(hn::RebindMask(Ids(), stays), ids_,
                          hn::IfThenElse(hn::RebindMask(Ids(), follows), hn::Set(Ids(), id), moved_ids));
    values_ = hn::IfThenElse(stays, values_, hn::Min(moved, inserted));
  }
  void store() const {
    hn::BlendedStore(values_, used_, RowTag(), list_.values);
    hn::BlendedStore(ids_, hn::RebindMask(Ids(), used_), Ids(), list_.ids);
  }

 private:
  const FallingList& list_;
  hn::Mask<RowTag> used_;
  Indices before_, last_;
  RowVector values_;
  hn::Vec<Ids> ids_;
};

void insert_larger_kernel(const float* row, int64_t begin, int64_t n, int32_t first_id, const FallingList& list) {
  const RowTag d;
  if (list.size <= static_cast<int>(hn::Lanes(d))) {
    ListInRegisters registers(list);
    visit_larger(
        row, begin, n, [&]() HWY_ATTR { return registers.last(); },
        [&](int64_t at) HWY_ATTR { registers.insert(row[at], first_id + static_cast<int32_t>(at)); });
    return registers.store();
  }
  visit_larger(
      row, begin, n, [&]() HWY_ATTR { return hn::Set(d, list.last()); },
      [&](int64_t at) {
        if (row[at] > list.last()) {  // which may have risen since the vector was compared
          list.insert(row[at], first_id + static_cast<int32_t>(at));
        }
      });
}

// The least of the largest numbers of each lane.
float floor_of_largest_kernel(const float* row, int64_t n, int k) {
  const RowTag d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  RowVector largest = hn::Set(d, -std::numeric_limits<float>::infinity());
  for (int64_t at = 0; k <= lanes && at + lanes <= n; at += lanes) {
    largest = hn::Max(hn::LoadU(d, row + at), largest);  // passes NaN over
  }
  return hn::GetLane(hn::MinOfLanes(d, largest));
}

float largest_of_kernel(const float* row, int64_t n) {
  return largest_of_row(row, n);
}

float sum_of_exponentials_kernel(const float* row, int64_t n, float shift) {
  const RowTag d;
  const RowVector shifts = hn::Set(d, shift), log2_e = hn::Set(d, kLog2E);
  return sum_row(row, n, [&](RowVector x) HWY_ATTR { return vector_exp2(d, hn::Mul(hn::Sub(x, shifts), log2_e)); });
}

}  // namespace dragoman::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "kernels/cpu/simd/simd.h"

namespace dragoman::kernels {
namespace {

HWY_EXPORT(insert_larger_kernel);
HWY_EXPORT(floor_of_largest_kernel);
HWY_EXPORT(largest_of_kernel);
HWY_EXPORT(sum_of_exponentials_kernel);

}  // namespace

void insert_larger(const float* row, int64_t begin, int64_t n, int32_t first_id, const FallingList& list) {
  DRAGOMAN_DISPATCH(insert_larger_kernel)(row, begin, n, first_id, list);
}

float floor_of_largest(const float* row, int64_t n, int k) {
  return DRAGOMAN_DISPATCH(floor_of_largest_kernel)(row, n, k);
}

float largest_of(const float* row, int64_t n) {
  return DRAGOMAN_DISPATCH(largest_of_kernel)(row, n);
}

float sum_of_exponentials(const float* row, int64_t n, float shift) {
  return DRAGOMAN_DISPATCH(sum_of_exponentials_kernel)(row, n, shift);
}

}  // namespace dragoman::kernels
#endif
