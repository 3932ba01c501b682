// Included once per instruction set from files that Highway compiles several times; hence no #pragma once.
#if defined(DRAGOMAN_OPS_TRANSPOSE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef DRAGOMAN_OPS_TRANSPOSE_INL_H_
#undef DRAGOMAN_OPS_TRANSPOSE_INL_H_
#else
#define DRAGOMAN_OPS_TRANSPOSE_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace dragoman::ops::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Stores 128-bit block b of `x` to to + b * stride, for all blocks.
template <class D, class V>
HWY_INLINE void store_blocks(D d, V x, float* to, int64_t stride) {
  constexpr auto kBlocks = static_cast<int64_t>(hn::MaxLanes(d)) / 4;
  if constexpr (kBlocks == 1) {
    hn::StoreU(x, d, to);
  } else {
    const hn::Half<D> half;
    store_blocks(half, hn::LowerHalf(half, x), to, stride);
    store_blocks(half, hn::UpperHalf(half, x), to + kBlocks / 2 * stride, stride);
  }
}

// Columns [c, c + lanes) of four rows; rows from `valid` on count as 0, columns too where `mask` is false.
template <class Load>
HWY_INLINE void transpose_four_rows(Load load, float* to, int64_t to_stride) {
  const hn::ScalableTag<float> d;
  const hn::RepartitionToWide<decltype(d)> dw;
  const auto row0 = load(0), row1 = load(1), row2 = load(2), row3 = load(3);
  const auto low01 = hn::BitCast(dw, hn::InterleaveLower(d, row0, row1));
  const auto low23 = hn::BitCast(dw, hn::InterleaveLower(d, row2, row3));
  const auto high01 = hn::BitCast(dw, hn::InterleaveUpper(d, row0, row1));
  const auto high23 = hn::BitCast(dw, hn::InterleaveUpper(d, row2, row3));
  // Block b of each vector is a column 4 b + 0, 1, 2, 3 of the four rows.
  store_blocks(d, hn::BitCast(d, hn::InterleaveLower(dw, low01, low23)), to, 4 * to_stride);
  store_blocks(d, hn::BitCast(d, hn::InterleaveUpper(dw, low01, low23)), to + to_stride, 4 * to_stride);
  store_blocks(d, hn::BitCast(d, hn::InterleaveLower(dw, high01, high23)), to + 2 * to_stride, 4 * to_stride);
  store_blocks(d, hn::BitCast(d, hn::InterleaveUpper(dw, high01, high23)), to + 3 * to_stride, 4 * to_stride);
}

/// to[c * to_stride + r] = from[r * from_stride + c]; columns of `to` from n_rows up to to_stride become 0.
/// @param to_stride  a multiple of 4
HWY_INLINE void transpose(const float* from, int64_t from_stride, int64_t n_rows, int64_t n_columns, float* to,
                          int64_t to_stride) {
  const hn::ScalableTag<float> d;
  constexpr auto kLanes = static_cast<int64_t>(hn::MaxLanes(d));
  for (int64_t r = 0; r < to_stride; r += 4) {
    int64_t c = 0;
    for (; c + kLanes <= n_columns; c += kLanes) {
      transpose_four_rows(
          [&](int64_t i)
              HWY_ATTR { return r + i < n_rows ? hn::LoadU(d, from + (r + i) * from_stride + c) : hn::Zero(d); },
          to + c * to_stride + r, to_stride);
    }
    for (; c < n_columns; ++c) {
      for (int64_t i = r; i < r + 4; ++i) {
        to[c * to_stride + i] = i < n_rows ? from[i * from_stride + c] : 0.0F;
      }
    }
  }
}

}  // namespace dragoman::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
