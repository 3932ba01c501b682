#include "kernels/cpu/output/logit_screen_cpu.h"

#include <cmath>
#include <limits>

#include "kernels/cpu/simd/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/output/logit_screen_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/cpu/gemm/int8_cells-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman::kernels {
namespace HWY_NAMESPACE {
namespace {

// Adds the squares of `x` rounded to multiples of `scale`, and of what that loses.
HWY_INLINE void add_rounding(Vector x, Vector scale, Vector inverse_scale, Vector& kept, Vector& lost) {
  const Vector rounded = hn::Mul(hn::ConvertTo(Tag(), hn::NearestInt(hn::Mul(x, inverse_scale))), scale);
  const Vector rest = hn::Sub(x, rounded);
  kept = hn::MulAdd(rounded, rounded, kept);
  lost = hn::MulAdd(rest, rest, lost);
}

Rounding row_rounding(const float* x, int64_t n) {
  const Tag d;
  const float scale = largest_magnitude(x, n) / kInt8Largest;
  const Vector scales = hn::Set(d, scale), inverse_scale = hn::Set(d, scale > 0 ? 1.0F / scale : 0.0F);
  Vector kept = hn::Zero(d), lost = hn::Zero(d);
  for (int64_t i = 0; i < n; i += kLanes) {
    const auto inside = hn::FirstN(d, static_cast<size_t>(n - i));
    add_rounding(n - i >= kLanes ? hn::LoadU(d, x + i) : hn::MaskedLoad(inside, d, x + i), scales, inverse_scale, kept,
                 lost);
  }
  return {hn::GetLane(hn::SumOfLanes(d, kept)), hn::GetLane(hn::SumOfLanes(d, lost))};
}

// A vector of columns at a time; the cells of float32 panels are the numbers themselves.
Rounding column_rounding(const PanelStorage& panels, PackedSize size, const float* scales) {
  const Tag d;
  Vector most_kept = hn::Zero(d), most_lost = hn::Zero(d);
  Vector all = hn::Zero(d);  // not finite if a column is not: the largest may pass NaN over
  for (int64_t column = 0; column < size.columns; column += kLanes) {
    const int64_t panel = column / kPanelColumns * kPanelColumns;
    const int64_t width = panel_width(size.columns - panel);
    const float* cell = panels.cells.data<float>() + panel * size.depth + column - panel;
    const Vector scale = hn::LoadU(d, scales + column);
    const Vector inverse_scale = hn::IfThenElseZero(hn::Gt(scale, hn::Zero(d)), hn::Div(hn::Set(d, 1.0F), scale));
    Vector kept = hn::Zero(d), lost = hn::Zero(d);
    for (int64_t k = 0; k < size.depth; ++k) {
      add_rounding(hn::LoadU(d, cell + k * width), scale, inverse_scale, kept, lost);
    }
    most_kept = hn::Max(kept, most_kept);
    most_lost = hn::Max(lost, most_lost);
    all = hn::Add(all, hn::Add(kept, lost));
  }
  if (!std::isfinite(hn::GetLane(hn::SumOfLanes(d, all)))) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    return {kInfinity, kInfinity};
  }
  return {hn::GetLane(hn::MaxOfLanes(d, most_kept)), hn::GetLane(hn::MaxOfLanes(d, most_lost))};
}

int64_t collect_at_least(const float* row, int64_t n, float floor, int32_t first_id, int32_t* ids) {
  const Tag d;
  const Vector floors = hn::Set(d, floor);
  int64_t count = 0;
  for (int64_t i = 0; i < n; i += kLanes) {
    const auto inside = hn::FirstN(d, static_cast<size_t>(n - i));
    const Vector part = n - i >= kLanes ? hn::LoadU(d, row + i) : hn::MaskedLoad(inside, d, row + i);
    const auto taken = hn::And(hn::Ge(part, floors), inside);
    if (!hn::AllFalse(d, taken)) {
      const auto numbers = hn::Iota(IntTag(), first_id + static_cast<int32_t>(i));
      count += static_cast<int64_t>(hn::CompressStore(numbers, hn::RebindMask(IntTag(), taken), IntTag(), ids + count));
    }
  }
  return count;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace dragoman::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dragoman::kernels {

HWY_EXPORT(row_rounding);
HWY_EXPORT(column_rounding);
HWY_EXPORT(collect_at_least);

Rounding rounding_of_row(const float* x, int64_t n) {
  return DRAGOMAN_DISPATCH(row_rounding)(x, n);
}

Rounding largest_column_rounding(const PanelStorage& panels, PackedSize size, const float* scales) {
  return DRAGOMAN_DISPATCH(column_rounding)(panels, size, scales);
}

int64_t ids_at_least(const float* row, int64_t n, float floor, int32_t first_id, int32_t* ids) {
  return DRAGOMAN_DISPATCH(collect_at_least)(row, n, floor, first_id, ids);
}

}  // namespace dragoman::kernels
#endif
