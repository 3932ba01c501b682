// Tiles of a matrix product with packed column panels, for one instruction set. Include after highway.h, inside
// foreach_target. Every element of C is the sum, over blocks of kDepthBlock cells, of a chain of multiply-adds in
// the order of k. It does not depend on the tile, on the number of rows or, in float32, on the vector width.

#include <hwy/highway.h>
#include <algorithm>
#include <cstdint>
#include <type_traits>

#if defined(DRAGOMAN_KERNELS_GEMM_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef DRAGOMAN_KERNELS_GEMM_TILE_INL_H_
#undef DRAGOMAN_KERNELS_GEMM_TILE_INL_H_
#else
#define DRAGOMAN_KERNELS_GEMM_TILE_INL_H_
#endif

#include "kernels/cpu/gemm/gemm_cells-inl.h"
#include "kernels/cpu/simd/row_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_AVX3
constexpr int kTileRows = 8, kTileVectors = 3;  // 24 sums, 3 columns, 1 broadcast of 32 registers
#else
constexpr int kTileRows = 6, kTileVectors = 2;  // 12 sums, 2 columns, 1 broadcast of 16 registers
#endif
constexpr int64_t kPanelColumns = kTileVectors * kLanes;
constexpr int64_t kDepthBlock = 512;                        // cells: a panel of a block stays in the second-level cache
constexpr int64_t kRowBlock = 128 / kTileRows * kTileRows;  // of A, kept in the second-level cache
constexpr int64_t kMostRows = kRowBlock * 5 / 4 / kTileRows * kTileRows;  // where another block would have few
// The number of rows for tile registers, which wait for B more than for A.
constexpr int64_t kRowsOfTiles = 256, kMostRowsOfTiles = 320;

// Returns the number of cells of a packed depth.
template <class Cells>
HWY_INLINE int64_t cells_of(int64_t depth) {
  constexpr int64_t kWhole = Cells::kDepth * Cells::kMultiple;
  return (depth + kWhole - 1) / kWhole * Cells::kMultiple * Cells::kParts;
}

// Returns the number of stored columns of a panel if `columns` are left: whole vectors, at most kPanelColumns.
HWY_INLINE int64_t panel_width(int64_t columns) {
  return std::min((columns + kLanes - 1) / kLanes * kLanes, kPanelColumns);
}

class PanelSplit;
class LeftSplit;

// Prefetches the next rows of an operand, some lines at a time, during the current multiplication. Without prefetch,
// rows that are read in short pieces, or while they are packed, are waited for one after the other.
class RowsAhead {
 public:
  RowsAhead() = default;
  // @param row_bytes  from one row to the next, of which the first `bytes` are used
  RowsAhead(const void* first, int64_t rows, int64_t row_bytes, int64_t bytes)
      : row_(static_cast<const char*>(first)), rows_left_(rows), row_bytes_(row_bytes), bytes_(bytes) {}

  // Spreads the prefetch over this number of steps.
  void spread(int64_t steps) {
    const int64_t lines = rows_left_ * ((bytes_ + kLine - 1) / kLine);
    lines_a_step_ = (lines + steps - 1) / std::max<int64_t>(steps, 1);
  }
  HWY_INLINE void step() {
    for (int64_t lines = lines_a_step_; lines > 0 && rows_left_ > 0; --lines) {
      __builtin_prefetch(row_ + place_, 0, 2);
      place_ += kLine;
      if (place_ >= bytes_) {
        place_ = 0;
        row_ += row_bytes_;
        --rows_left_;
      }
    }
  }

 private:
  static constexpr int64_t kLine = 64;
  const char* row_ = nullptr;
  int64_t rows_left_ = 0, row_bytes_ = 0, bytes_ = 0;
  int64_t place_ = 0;  // in the row
  int64_t lines_a_step_ = 0;
};

struct TileArguments {
  const float* a;  // cell (r, k) at a[r * a_row + k * a_depth]
  int64_t a_row, a_depth;
  const float* panel;  // cell (k, j) at panel[k * width + j]
  int64_t depth;       // in cells
  float* c;            // element (r, j) at c[r * c_row + j]
  int64_t c_row;
  int64_t columns;    // of c, at most the panel's width
  const float* bias;  // added to each row; null for none, and where it accumulates
  bool accumulate;    // adds to what C holds
  // The part of the next panel that is prefetched while this tile is computed: `ahead_lines` vectors of each cell, the
  // first at ahead + k * width. Without prefetch the first tile of a panel waits.
  const float* ahead = nullptr;
  int64_t ahead_lines = 0;
  RowsAhead* rows_ahead[2] = {nullptr, nullptr};  // in tile registers only; null for none
  // Replaces C as the destination of the elements, in bfloat16: (r, j) goes to rounded[r * rounded_row + j]; null for
  // C. In tile registers only; otherwise the whole panel is rounded afterwards.
  BFloat16* rounded = nullptr;
  int64_t rounded_row = 0;
  // bfloat16 in tile registers only: the sums of the parts of the depth so far, in rows as wide as the panel
  float* sums = nullptr;
  // float32 in tile registers only: the next panel, and how many cells of it are split with each group of tiles; the
  // next rows of A
  PanelSplit* next_split = nullptr;
  int64_t cells_to_split = 0;
  LeftSplit* next_left = nullptr;
  // int8 only: the scales of row r of A (rows are numbered from first_row) and of column j of B, and the
  // initial value of the sums of column j
  const float* row_scales = nullptr;
  int64_t first_row = 0;
  const float* column_scales = nullptr;
  const int32_t* column_starts = nullptr;
};

// The next rows of the same panel.
HWY_INLINE void skip_rows(TileArguments& tile, int64_t count) {
  tile.a += count * tile.a_row;
  tile.c += count * tile.c_row;
  tile.rounded += count * tile.rounded_row;
  tile.first_row += count;
}

// The sums of rows of `tile`, `width` apart, as bfloat16.
template <class Cells>
HWY_INLINE void round_rows(const float* sums, int64_t width, int64_t rows, const TileArguments& tile) {
  if constexpr (HoldsBFloat16<Cells>) {
    for (int64_t r = 0; r < rows; ++r) {
      const float* const from = sums + r * width;
      BFloat16* const to = tile.rounded + r * tile.rounded_row;
      int64_t column = 0;
      for (; column + kLanes <= tile.columns; column += kLanes) {
        Cells::store_bfloat16(hn::LoadU(Tag(), from + column), to + column);
      }
      if (column < tile.columns) {
        const PartVector last{hn::FirstN(Tag(), static_cast<size_t>(tile.columns - column))};
        last.store(last.load(from + column), to + column);
      }
    }
  }
}

// Calls store(accumulate, with_bias) with std::bool_constants that tell what is added to the sums of `tile`.
template <class Store>
HWY_INLINE void with_addends_of(const TileArguments& tile, const Store& store) {
  if (tile.accumulate) {
    return store(std::true_type(), std::false_type());
  }
  tile.bias != nullptr ? store(std::false_type(), std::true_type()) : store(std::false_type(), std::false_type());
}

// c = sums, + c or + bias for a vector of row `r`, or part of one, that begins in `column`. Cells add, so that no
// compiler chooses whether product and sum are rounded once or twice.
template <class Cells, bool kAccumulate, bool kBias, class Part>
HWY_INLINE void store_vector(const Part& part, typename Cells::Sum sum, const TileArguments& tile, int64_t r,
                             int64_t column) {
  float* const to = tile.c + r * tile.c_row + column;
  if constexpr (kAccumulate) {
    part.store(Cells::plus(sum, tile, r, column, part.load(to)), to);
  } else if constexpr (kBias) {
    part.store(Cells::plus(sum, tile, r, column, part.load(tile.bias + column)), to);
  } else {
    part.store(Cells::value(sum, tile, r, column), to);
  }
}

// `tile` is a copy, which no store can change: its members are read once, not for each vector.
template <class Cells, int kRows, int kVectors>
HWY_INLINE void store_tile(const TileArguments tile, const typename Cells::Sum (&sums)[kRows][kVectors]) {
  const bool whole = tile.columns == kVectors * kLanes;
  const PartVector last{hn::FirstN(Tag(), static_cast<size_t>(tile.columns - (kVectors - 1) * kLanes))};
  with_addends_of(tile, [&](auto accumulate, auto bias) HWY_ATTR {
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 3
      for (int v = 0; v < kVectors; ++v) {
        if (v + 1 < kVectors || whole) {
          store_vector<Cells, accumulate, bias>(WholeVector(), sums[r][v], tile, r, v * kLanes);
        } else {
          store_vector<Cells, accumulate, bias>(last, sums[r][v], tile, r, v * kLanes);
        }
      }
    }
  });
}

template <class Cells, int kRows, int kVectors>
void multiply_tile(const TileArguments& tile) {
  const Tag d;
  typename Cells::Sum sums[kRows][kVectors];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 3
    for (int v = 0; v < kVectors; ++v) {
      sums[r][v] = Cells::start(tile, v * kLanes);
    }
  }
  const float* a = tile.a;
  const float* panel = tile.panel;
  const float* ahead = tile.ahead;
  for (int64_t k = 0; k < tile.depth; ++k, a += tile.a_depth, panel += kVectors * kLanes, ahead += kVectors * kLanes) {
    for (int64_t line = 0; line < tile.ahead_lines; ++line) {
      __builtin_prefetch(ahead + line * kLanes, 0, 2);  // into the second-level cache: the first is full
    }
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
        sums[r][v] = Cells::multiply_add(factor, columns[v], sums[r][v]);
      }
    }
  }
  store_tile<Cells, kRows, kVectors>(tile, sums);
}

using TileFunction = void (*)(const TileArguments&);

template <class Cells, int kVectors>
TileFunction tile_of_rows(int64_t rows) {
  static_assert(kTileRows <= 8);
  constexpr TileFunction kByRows[] = {multiply_tile<Cells, 1, kVectors>,
                                      multiply_tile<Cells, 2, kVectors>,
                                      multiply_tile<Cells, 3, kVectors>,
                                      multiply_tile<Cells, 4, kVectors>,
                                      multiply_tile<Cells, 5, kVectors>,
                                      multiply_tile<Cells, 6, kVectors>,
                                      multiply_tile<Cells, std::min(7, kTileRows), kVectors>,
                                      multiply_tile<Cells, std::min(8, kTileRows), kVectors>};
  return kByRows[rows - 1];
}

// The tile function for `rows` rows (1 .. kTileRows) of a panel `width` columns wide.
template <class Cells>
HWY_INLINE TileFunction tile_function(int64_t rows, int64_t width) {
  switch (width / kLanes) {
    case 1:
      return tile_of_rows<Cells, 1>(rows);
    case 2:
      return tile_of_rows<Cells, 2>(rows);
    default:
      return tile_of_rows<Cells, kTileVectors>(rows);
  }
}

// Returns the rows of the next tile. The last two tiles share the rest evenly, since a tile of 1 row waits for its few
// sums.
HWY_INLINE int64_t rows_of_tile(int64_t left) {
  return left >= 2 * kTileRows ? kTileRows : left > kTileRows ? (left + 1) / 2 : left;
}

// Multiplies one panel by `rows` rows of A. `tile` describes the first row. Its tiles prefetch the panel at `next`,
// unless null, in equal parts.
template <class Cells>
HWY_INLINE void multiply_panel(TileArguments tile, int64_t rows, int64_t width, const float* next) {
  const int64_t tiles = (rows + kTileRows - 1) / kTileRows;
  int64_t lines = next == nullptr ? 0 : width / kLanes;
  const int64_t lines_a_tile = (lines + tiles - 1) / tiles;
  while (rows > 0) {
    const int64_t count = rows_of_tile(rows);
    tile.ahead_lines = std::min(lines, lines_a_tile);
    lines -= tile.ahead_lines;
    tile.ahead = next == nullptr ? tile.panel : next + lines * kLanes;
    tile_function<Cells>(count, width)(tile);
    skip_rows(tile, count);
    rows -= count;
  }
}

// Multiplies one panel by rows of A packed by pack_left_transposed.
template <class Cells>
HWY_INLINE void multiply_panel_of_blocks(TileArguments tile, int64_t rows, int64_t width) {
  for (int64_t row = 0; row < rows; row += kTileRows) {
    tile_function<Cells>(std::min<int64_t>(rows - row, kTileRows), width)(tile);
    tile.a += kTileRows * tile.depth;
    tile.c += kTileRows * tile.c_row;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace dragoman::kernels
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
