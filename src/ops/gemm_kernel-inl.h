// The float32 product of a block of rows with packed column panels, for one instruction set. Include after highway.h,
// inside foreach_target. Shared by gemm (packs at each call) and PackedMatrix (packs once), so both give the same bits:
// every element is the sum over blocks of kDepthBlock of a chain of fused multiply-adds in the order of k, whatever the
// tile it falls into, the number of rows, and the vector width.

#include <hwy/highway.h>
#include <algorithm>
#include <cstdint>
#include <cstring>

#if defined(DRAGOMAN_OPS_GEMM_KERNEL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef DRAGOMAN_OPS_GEMM_KERNEL_INL_H_
#undef DRAGOMAN_OPS_GEMM_KERNEL_INL_H_
#else
#define DRAGOMAN_OPS_GEMM_KERNEL_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace dragoman::ops {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::ScalableTag<float>;
using Vector = hn::Vec<Tag>;

constexpr int64_t kLanes = HWY_MAX_BYTES / sizeof(float);
#if HWY_TARGET == HWY_AVX3
constexpr int kTileRows = 8, kTileVectors = 3;  // 24 sums, 3 columns, 1 broadcast of 32 registers
#else
constexpr int kTileRows = 6, kTileVectors = 2;  // 12 sums, 2 columns, 1 broadcast of 16 registers
#endif
constexpr int64_t kPanelColumns = kTileVectors * kLanes;
constexpr int64_t kDepthBlock = 512;  // a panel of a block stays in the second-level cache

// Columns a panel holds in memory when `columns` are left: whole vectors, at most kPanelColumns.
HWY_INLINE int64_t panel_width(int64_t columns) {
  return std::min((columns + kLanes - 1) / kLanes * kLanes, kPanelColumns);
}

struct TileArguments {
  const float* a;  // element (r, k) at a[r * a_row + k * a_depth]
  int64_t a_row, a_depth;
  const float* panel;  // element (k, j) at panel[k * width + j]
  int64_t depth;
  float* c;  // element (r, j) at c[r * c_row + j]
  int64_t c_row;
  int64_t columns;    // of c, at most the panel's width
  const float* bias;  // added to each row; null for none
  bool accumulate;
};

template <int kRows, int kVectors>
void multiply_tile(const TileArguments& tile) {
  const Tag d;
  Vector sums[kRows][kVectors];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 3
    for (int v = 0; v < kVectors; ++v) {
      sums[r][v] = hn::Zero(d);
    }
  }
  const float* a = tile.a;
  const float* panel = tile.panel;
  for (int64_t k = 0; k < tile.depth; ++k, a += tile.a_depth, panel += kVectors * kLanes) {
    Vector columns[kVectors];
#pragma GCC unroll 3
    for (int v = 0; v < kVectors; ++v) {
      columns[v] = hn::LoadU(d, panel + v * kLanes);
    }
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      const Vector factor = hn::Set(d, a[r * tile.a_row]);
#pragma GCC unroll 3
      for (int v = 0; v < kVectors; ++v) {
        sums[r][v] = hn::MulAdd(factor, columns[v], sums[r][v]);
      }
    }
  }
  const auto last = hn::FirstN(d, static_cast<size_t>(tile.columns - (kVectors - 1) * kLanes));
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
    float* row = tile.c + r * tile.c_row;
#pragma GCC unroll 3
    for (int v = 0; v < kVectors; ++v) {
      const bool whole = v + 1 < kVectors || tile.columns == kVectors * kLanes;
      if (whole) {
        Vector sum = tile.accumulate ? hn::Add(hn::LoadU(d, row + v * kLanes), sums[r][v]) : sums[r][v];
        sum = tile.bias != nullptr ? hn::Add(sum, hn::LoadU(d, tile.bias + v * kLanes)) : sum;
        hn::StoreU(sum, d, row + v * kLanes);
      } else {
        Vector sum = tile.accumulate ? hn::Add(hn::MaskedLoad(last, d, row + v * kLanes), sums[r][v]) : sums[r][v];
        sum = tile.bias != nullptr ? hn::Add(sum, hn::MaskedLoad(last, d, tile.bias + v * kLanes)) : sum;
        hn::BlendedStore(sum, last, d, row + v * kLanes);
      }
    }
  }
}

using TileFunction = void (*)(const TileArguments&);

template <int kVectors>
TileFunction tile_of_rows(int64_t rows) {
  static_assert(kTileRows <= 8);
  constexpr TileFunction kByRows[] = {multiply_tile<1, kVectors>,
                                      multiply_tile<2, kVectors>,
                                      multiply_tile<3, kVectors>,
                                      multiply_tile<4, kVectors>,
                                      multiply_tile<5, kVectors>,
                                      multiply_tile<6, kVectors>,
                                      multiply_tile<std::min(7, kTileRows), kVectors>,
                                      multiply_tile<std::min(8, kTileRows), kVectors>};
  return kByRows[rows - 1];
}

// The tile function for `rows` rows (1 .. kTileRows) of a panel `width` columns wide.
HWY_INLINE TileFunction tile_function(int64_t rows, int64_t width) {
  switch (width / kLanes) {
    case 1:
      return tile_of_rows<1>(rows);
    case 2:
      return tile_of_rows<2>(rows);
    default:
      return tile_of_rows<kTileVectors>(rows);
  }
}

// Rows of the next tile. The last two share what is left evenly, since a tile of 1 row waits for its few sums.
HWY_INLINE int64_t rows_of_tile(int64_t left) {
  return left >= 2 * kTileRows ? kTileRows : left > kTileRows ? (left + 1) / 2 : left;
}

// One panel times `rows` rows of A; `tile` describes the first row.
HWY_INLINE void multiply_panel(TileArguments tile, int64_t rows, int64_t width) {
  while (rows > 0) {
    const int64_t count = rows_of_tile(rows);
    tile_function(count, width)(tile);
    tile.a += count * tile.a_row;
    tile.c += count * tile.c_row;
    rows -= count;
  }
}

// The same for A packed by pack_rows_transposed.
HWY_INLINE void multiply_panel_packed_rows(TileArguments tile, int64_t rows, int64_t width) {
  for (int64_t row = 0; row < rows; row += kTileRows) {
    tile_function(std::min<int64_t>(rows - row, kTileRows), width)(tile);
    tile.a += kTileRows * tile.depth;
    tile.c += kTileRows * tile.c_row;
  }
}

// Loads the vectors whose 128-bit blocks are 4 floats of rows 0, 4, 8 ... of a matrix.
template <class D>
HWY_INLINE hn::Vec<D> load_every_fourth_row(D d, const float* rows, int64_t stride) {
  constexpr int64_t lanes = hn::MaxLanes(D());
  if constexpr (lanes == 4) {
    return hn::LoadU(d, rows);
  } else {
    const hn::Half<D> half;
    return hn::Combine(d, load_every_fourth_row(half, rows + lanes / 2 * stride, stride),
                       load_every_fourth_row(half, rows, stride));
  }
}

// Writes the transpose of kLanes rows x 4 columns as 4 vectors, `width` floats apart.
HWY_INLINE void transpose_four_columns(const float* rows, int64_t stride, int64_t width, float* packed) {
  const Tag d;
  const hn::Repartition<double, Tag> pairs;
  const Vector row0 = load_every_fourth_row(d, rows, stride);
  const Vector row1 = load_every_fourth_row(d, rows + stride, stride);
  const Vector row2 = load_every_fourth_row(d, rows + 2 * stride, stride);
  const Vector row3 = load_every_fourth_row(d, rows + 3 * stride, stride);
  const auto low01 = hn::BitCast(pairs, hn::InterleaveLower(d, row0, row1));
  const auto high01 = hn::BitCast(pairs, hn::InterleaveUpper(d, row0, row1));
  const auto low23 = hn::BitCast(pairs, hn::InterleaveLower(d, row2, row3));
  const auto high23 = hn::BitCast(pairs, hn::InterleaveUpper(d, row2, row3));
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, low01, low23)), d, packed);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, low01, low23)), d, packed + width);
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, high01, high23)), d, packed + 2 * width);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, high01, high23)), d, packed + 3 * width);
}

// Packs columns [0, columns) of B [depth, columns], stored as rows of `stride` floats; missing columns become 0.
HWY_INLINE void pack_panel(const float* b, int64_t stride, int64_t depth, int64_t columns, float* packed) {
  const Tag d;
  const int64_t width = panel_width(columns);
  for (int64_t k = 0; k < depth; ++k, b += stride, packed += width) {
    int64_t j = 0;
    for (; j + kLanes <= columns; j += kLanes) {
      hn::StoreU(hn::LoadU(d, b + j), d, packed + j);
    }
    if (j < columns) {
      const auto valid = hn::FirstN(d, static_cast<size_t>(columns - j));
      hn::StoreU(hn::MaskedLoad(valid, d, b + j), d, packed + j);
    }
  }
}

// The same from B^T: row j of `b` is column j of B.
HWY_INLINE void pack_panel_transposed(const float* b, int64_t stride, int64_t depth, int64_t columns, float* packed) {
  const int64_t width = panel_width(columns);
  for (int64_t j = 0; j < width; j += kLanes) {
    int64_t k = 0;
    for (; j + kLanes <= columns && k + 4 <= depth; k += 4) {
      transpose_four_columns(b + j * stride + k, stride, width, packed + k * width + j);
    }
    for (; k < depth; ++k) {
      for (int64_t lane = 0; lane < kLanes; ++lane) {
        packed[k * width + j + lane] = j + lane < columns ? b[(j + lane) * stride + k] : 0.0F;
      }
    }
  }
}

// Packs rows of A given as A^T [depth, rows]: block after block of kTileRows rows, element (r, k) of a block at
// [k * kTileRows + r].
HWY_INLINE void pack_rows_transposed(const float* a, int64_t stride, int64_t depth, int64_t rows, float* packed) {
  constexpr int64_t kChunk = 8;  // few enough lines at power-of-two strides for the first-level cache
  for (int64_t begin = 0; begin < depth; begin += kChunk) {
    const int64_t end = std::min(begin + kChunk, depth);
    int64_t row = 0;
    for (; row + kTileRows <= rows; row += kTileRows) {
      for (int64_t k = begin; k < end; ++k) {
        std::memcpy(packed + row * depth + k * kTileRows, a + k * stride + row, kTileRows * sizeof(float));
      }
    }
    for (int64_t k = begin; row < rows && k < end; ++k) {
      std::copy(a + k * stride + row, a + k * stride + rows, packed + row * depth + k * kTileRows);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace dragoman::ops
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
