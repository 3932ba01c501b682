// Included once per instruction set from files that Highway compiles several times; hence no #pragma once.
#if defined(DRAGOMAN_KERNELS_TRANSPOSE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef DRAGOMAN_KERNELS_TRANSPOSE_INL_H_
#undef DRAGOMAN_KERNELS_TRANSPOSE_INL_H_
#else
#define DRAGOMAN_KERNELS_TRANSPOSE_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace dragoman::kernels::HWY_NAMESPACE {
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

// A vector of each of the four rows load(0) to load(3), transposed within blocks of four columns: block b of
// columns[i] is column 4 b + i of the four rows.
template <class Load, class V>
HWY_INLINE void transpose_blocks(Load load, V (&columns)[4]) {
  const hn::ScalableTag<float> d;
  const hn::RepartitionToWide<decltype(d)> dw;
  const auto row0 = load(0), row1 = load(1), row2 = load(2), row3 = load(3);
  const auto low01 = hn::BitCast(dw, hn::InterleaveLower(d, row0, row1));
  const auto low23 = hn::BitCast(dw, hn::InterleaveLower(d, row2, row3));
  const auto high01 = hn::BitCast(dw, hn::InterleaveUpper(d, row0, row1));
  const auto high23 = hn::BitCast(dw, hn::InterleaveUpper(d, row2, row3));
  columns[0] = hn::BitCast(d, hn::InterleaveLower(dw, low01, low23));
  columns[1] = hn::BitCast(d, hn::InterleaveUpper(dw, low01, low23));
  columns[2] = hn::BitCast(d, hn::InterleaveLower(dw, high01, high23));
  columns[3] = hn::BitCast(d, hn::InterleaveUpper(dw, high01, high23));
}

// As many columns of four rows as a vector has lanes.
template <class Load>
HWY_INLINE void transpose_four_rows(Load load, float* to, int64_t to_stride) {
  const hn::ScalableTag<float> d;
  hn::Vec<decltype(d)> columns[4];
  transpose_blocks(load, columns);
  for (int64_t i = 0; i < 4; ++i) {
    store_blocks(d, columns[i], to + i * to_stride, 4 * to_stride);
  }
}

// 16 columns of 16 rows, for vectors of 16 lanes: stores whole vectors.
template <class Load>
HWY_INLINE void transpose_sixteen_rows(Load load, float* to, int64_t to_stride) {
  const hn::ScalableTag<float> d;
  hn::Vec<decltype(d)> columns[4][4];
#pragma GCC unroll 4
  for (int64_t four = 0; four < 4; ++four) {
    transpose_blocks([&](int64_t i) HWY_ATTR { return load(4 * four + i); }, columns[four]);
  }
#pragma GCC unroll 4
  for (int64_t i = 0; i < 4; ++i, to += to_stride) {
    // Blocks 0 and 2, or 1 and 3, of two neighbouring fours of rows.
    const auto even_blocks = [&](int64_t four) HWY_ATTR {
      return hn::OddEvenBlocks(hn::SwapAdjacentBlocks(columns[four + 1][i]), columns[four][i]);
    };
    const auto odd_blocks = [&](int64_t four) HWY_ATTR {
      return hn::OddEvenBlocks(columns[four + 1][i], hn::SwapAdjacentBlocks(columns[four][i]));
    };
    const auto even01 = even_blocks(0), even23 = even_blocks(2), odd01 = odd_blocks(0), odd23 = odd_blocks(2);
    hn::StoreU(hn::ConcatLowerLower(d, even23, even01), d, to);
    hn::StoreU(hn::ConcatLowerLower(d, odd23, odd01), d, to + 4 * to_stride);
    hn::StoreU(hn::ConcatUpperUpper(d, even23, even01), d, to + 8 * to_stride);
    hn::StoreU(hn::ConcatUpperUpper(d, odd23, odd01), d, to + 12 * to_stride);
  }
}

/// Computes to[c * to_stride + r] = from[r * from_stride + c]; columns of `to` from n_rows up to to_stride become 0.
/// @param to_stride  a multiple of 4
HWY_INLINE void transpose(const float* from, int64_t from_stride, int64_t n_rows, int64_t n_columns, float* to,
                          int64_t to_stride) {
  const hn::ScalableTag<float> d;
  constexpr auto kWidth = static_cast<int64_t>(hn::MaxLanes(d));
  int64_t step = 0;
  for (int64_t r = 0; r < to_stride; r += step) {
    step = kWidth == 16 && r + 16 <= to_stride ? 16 : 4;
    int64_t c = 0;
    for (; c + kWidth <= n_columns; c += kWidth) {
      const auto load = [&](int64_t i) HWY_ATTR {
        return r + i < n_rows ? hn::LoadU(d, from + (r + i) * from_stride + c) : hn::Zero(d);
      };
      if constexpr (kWidth == 16) {
        if (step == 16) {
          transpose_sixteen_rows(load, to + c * to_stride + r, to_stride);
          continue;
        }
      }
      transpose_four_rows(load, to + c * to_stride + r, to_stride);
    }
    for (; c < n_columns; ++c) {
      for (int64_t i = r; i < r + step; ++i) {
        to[c * to_stride + i] = i < n_rows ? from[i * from_stride + c] : 0.0F;
      }
    }
  }
}

}  // namespace dragoman::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
