// Included once per instruction set from files that Highway compiles several times; hence no #pragma once.
#if defined(DRAGOMAN_KERNELS_SMALL_GEMM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef DRAGOMAN_KERNELS_SMALL_GEMM_INL_H_
#undef DRAGOMAN_KERNELS_SMALL_GEMM_INL_H_
#else
#define DRAGOMAN_KERNELS_SMALL_GEMM_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>

#include "kernels/cpu/gemm/small_gemm.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr int64_t kTileRows = 6;

// Where a tile reads and writes, and its range of k.
struct GemmTile {
  const float* a;
  const float* b;
  float* c;
  int64_t k_begin, k_end;
  size_t tail_lanes;  // columns of a tile that holds less than a vector
};

// One tile of kRows x (kVectors vectors): c (+)= a b. kTail: the only vector holds just `tail_lanes` columns.
template <int64_t kRows, int64_t kVectors, bool kTail>
HWY_NOINLINE void gemm_tile(const SmallGemm& g, const GemmTile& tile) {
  const hn::ScalableTag<float> d;
  using V = hn::Vec<decltype(d)>;
  constexpr auto kLanes = static_cast<int64_t>(hn::MaxLanes(d));
  const auto mask = hn::FirstN(d, tile.tail_lanes);
  const auto load = [&](const float* from)
                        HWY_ATTR { return kTail ? hn::MaskedLoad(mask, d, from) : hn::LoadU(d, from); };
  float* c = tile.c;
  V sums[kRows][kVectors];  // in registers, once the loops below are unrolled
  HWY_UNROLL(6)
  for (int64_t row = 0; row < kRows; ++row) {
    HWY_UNROLL(4)
    for (int64_t vector = 0; vector < kVectors; ++vector) {
      sums[row][vector] = g.accumulate ? load(c + row * g.c_row + vector * kLanes) : hn::Zero(d);
    }
  }
  const int64_t a_row = g.a_row, a_column = g.a_column, b_row = g.b_row;
  const float* a = tile.a + tile.k_begin * a_column;
  const float* b = tile.b + tile.k_begin * b_row;
  for (int64_t k = tile.k_begin; k < tile.k_end; ++k, a += a_column, b += b_row) {
    V right[kVectors];
    HWY_UNROLL(4)
    for (int64_t vector = 0; vector < kVectors; ++vector) {
      right[vector] = load(b + vector * kLanes);
    }
    HWY_UNROLL(6)
    for (int64_t row = 0; row < kRows; ++row) {
      const V left = hn::Set(d, a[row * a_row]);
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

template <int64_t kVectors, bool kTail>
HWY_INLINE void gemm_tile_of_rows(const SmallGemm& g, const GemmTile& tile, int64_t rows) {
  switch (rows) {
    case 1:
      return gemm_tile<1, kVectors, kTail>(g, tile);
    case 2:
      return gemm_tile<2, kVectors, kTail>(g, tile);
    case 3:
      return gemm_tile<3, kVectors, kTail>(g, tile);
    case 4:
      return gemm_tile<4, kVectors, kTail>(g, tile);
    case 5:
      return gemm_tile<5, kVectors, kTail>(g, tile);
    default:
      return gemm_tile<kTileRows, kVectors, kTail>(g, tile);
  }
}

// All rows of one strip of kVectors vectors.
template <int64_t kVectors, bool kTail>
HWY_INLINE void gemm_strip(const SmallGemm& g, int64_t column, size_t tail_lanes) {
  constexpr auto kLanes = static_cast<int64_t>(hn::MaxLanes(hn::ScalableTag<float>()));
  for (int64_t row = 0; row < g.m; row += kTileRows) {
    const int64_t rows = std::min(kTileRows, g.m - row);
    GemmTile tile{g.a + row * g.a_row, g.b + column, g.c + row * g.c_row + column, 0, g.k, tail_lanes};
    if (g.triangle == Triangle::kUpperC && column + kVectors * kLanes <= row + g.diagonal) {
      return;  // nor do the rows below ask for this strip
    }
    if (g.triangle == Triangle::kLowerA) {
      tile.k_end = std::min(g.k, row + rows + g.diagonal);
    } else if (g.triangle == Triangle::kUpperA) {
      tile.k_begin = std::max<int64_t>(0, row + g.diagonal);
    }
    gemm_tile_of_rows<kVectors, kTail>(g, tile, rows);
  }
}

/// Computes the product described by `g` on one thread. Every element adds its k products in rising order of k with
/// fused multiply-adds. Its bits do not depend on m and n, nor on whether zeros are left out.
HWY_INLINE void small_gemm(const SmallGemm& g) {
  const hn::ScalableTag<float> d;
  constexpr auto kLanes = static_cast<int64_t>(hn::MaxLanes(d));
  int64_t column = 0;
  if constexpr (kLanes >= 16) {  // 24 accumulators of 32 registers; below 12 of 16
    for (; column + 4 * kLanes <= g.n; column += 4 * kLanes) {
      gemm_strip<4, false>(g, column, 0);
    }
  }
  for (; column + 2 * kLanes <= g.n; column += 2 * kLanes) {
    gemm_strip<2, false>(g, column, 0);
  }
  for (; column + kLanes <= g.n; column += kLanes) {
    gemm_strip<1, false>(g, column, 0);
  }
  if (column < g.n) {
    gemm_strip<1, true>(g, column, static_cast<size_t>(g.n - column));
  }
}

}  // namespace dragoman::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
