// Included once per instruction set from files that Highway compiles several times; hence no #pragma once.
#if defined(DRAGOMAN_OPS_SMALL_GEMM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef DRAGOMAN_OPS_SMALL_GEMM_INL_H_
#undef DRAGOMAN_OPS_SMALL_GEMM_INL_H_
#else
#define DRAGOMAN_OPS_SMALL_GEMM_INL_H_
#endif

#include <hwy/highway.h>

#include "ops/small_gemm.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman::ops::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr int64_t kTileRows = 6;

// One tile of kRows x (kVectors vectors): c (+)= a b. kTail: the only vector holds just `lanes` columns.
template <int64_t kRows, int64_t kVectors, bool kTail>
HWY_NOINLINE void gemm_tile(const SmallGemm& g, const float* a, const float* b, float* c, size_t lanes) {
  const hn::ScalableTag<float> d;
  using V = hn::Vec<decltype(d)>;
  constexpr auto kLanes = static_cast<int64_t>(hn::MaxLanes(d));
  const auto mask = hn::FirstN(d, lanes);
  const auto load = [&](const float* from)
                        HWY_ATTR { return kTail ? hn::MaskedLoad(mask, d, from) : hn::LoadU(d, from); };
  V sums[kRows][kVectors];  // in registers, once the loops below are unrolled
  HWY_UNROLL(6)
  for (int64_t row = 0; row < kRows; ++row) {
    HWY_UNROLL(4)
    for (int64_t vector = 0; vector < kVectors; ++vector) {
      sums[row][vector] = g.accumulate ? load(c + row * g.c_row + vector * kLanes) : hn::Zero(d);
    }
  }
  for (int64_t k = 0; k < g.k; ++k) {
    V right[kVectors];
    HWY_UNROLL(4)
    for (int64_t vector = 0; vector < kVectors; ++vector) {
      right[vector] = load(b + k * g.b_row + vector * kLanes);
    }
    HWY_UNROLL(6)
    for (int64_t row = 0; row < kRows; ++row) {
      const V left = hn::Set(d, a[row * g.a_row + k * g.a_column]);
      HWY_UNROLL(4)
      for (int64_t vector = 0; vector < kVectors; ++vector) {
        sums[row][vector] = hn::MulAdd(left, right[vector], sums[row][vector]);
      }
    }
  }
  HWY_UNROLL(6)
  for (int64_t row = 0; row < kRows; ++row) {
    HWY_UNROLL(4)
    for (int64_t vector = 0; vector < kVectors; ++vector) {
      float* to = c + row * g.c_row + vector * kLanes;
      if constexpr (kTail) {
        hn::BlendedStore(sums[row][vector], mask, d, to);
      } else {
        hn::StoreU(sums[row][vector], d, to);
      }
    }
  }
}

// All rows of one strip of kVectors vectors.
template <int64_t kVectors, bool kTail>
HWY_INLINE void gemm_strip(const SmallGemm& g, int64_t column, size_t lanes) {
  const float* b = g.b + column;
  int64_t row = 0;
  for (; row + kTileRows <= g.m; row += kTileRows) {
    gemm_tile<kTileRows, kVectors, kTail>(g, g.a + row * g.a_row, b, g.c + row * g.c_row + column, lanes);
  }
  const float* a = g.a + row * g.a_row;
  float* c = g.c + row * g.c_row + column;
  switch (g.m - row) {
    case 1:
      return gemm_tile<1, kVectors, kTail>(g, a, b, c, lanes);
    case 2:
      return gemm_tile<2, kVectors, kTail>(g, a, b, c, lanes);
    case 3:
      return gemm_tile<3, kVectors, kTail>(g, a, b, c, lanes);
    case 4:
      return gemm_tile<4, kVectors, kTail>(g, a, b, c, lanes);
    case 5:
      return gemm_tile<5, kVectors, kTail>(g, a, b, c, lanes);
    default:
      return;
  }
}

/// Computes the product described by `g` on one thread. Every element adds its k products in rising order of k with
/// fused multiply-adds, so it has the same bits whatever m and n are.
HWY_INLINE void small_gemm(const SmallGemm& g) {
  const hn::ScalableTag<float> d;
  constexpr auto kLanes = static_cast<int64_t>(hn::MaxLanes(d));
  constexpr int64_t kWide = kLanes >= 16 ? 4 : 2;  // 24 accumulators of 32 registers, or 12 of 16
  int64_t column = 0;
  for (; column + kWide * kLanes <= g.n; column += kWide * kLanes) {
    gemm_strip<kWide, false>(g, column, 0);
  }
  for (; column + kLanes <= g.n; column += kLanes) {
    gemm_strip<1, false>(g, column, 0);
  }
  if (column < g.n) {
    gemm_strip<1, true>(g, column, static_cast<size_t>(g.n - column));
  }
}

}  // namespace dragoman::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
