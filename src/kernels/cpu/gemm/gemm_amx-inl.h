// Tiles of a matrix product, bfloat16 or int8 or the parts of float32 (SplitFloat32Cells), in the tile registers of
// AMX. Include after highway.h, inside foreach_target. A is packed row by row, B in the panels of gemm_tile-inl.h, both
// padded with zeros to whole tiles of 16 cells of depth. Every element of C is a chain over k of the same instructions,
// whatever the tile it falls into and the number of rows.

#include <hwy/highway.h>
#include <algorithm>
#include <cstdint>

#if defined(DRAGOMAN_KERNELS_GEMM_AMX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef DRAGOMAN_KERNELS_GEMM_AMX_INL_H_
#undef DRAGOMAN_KERNELS_GEMM_AMX_INL_H_
#else
#define DRAGOMAN_KERNELS_GEMM_AMX_INL_H_
#endif

#include "kernels/cpu/gemm/gemm_split-inl.h"
#include "kernels/cpu/gemm/tile_registers-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_AVX3
constexpr int kTilesDown = 2;        // of C at a time
constexpr int64_t kTileDepth = 128;  // cells: the tiles of this depth of a panel stay in the first-level cache
constexpr int64_t kFewRows = 160;    // with fewer rows the loads of a panel from memory are not hidden
static_assert(kTilesDown * kTileVectors <= kATile && kLanes == kTileSide &&
              kMostRowsOfTiles % (kTilesDown * kTileSide) == 0);

// The source of the initial sums of a group of tiles, and the destination of the final sums.
struct TileSums {
  const float* begin;  // null for zeros
  int64_t begin_row;   // from one row to the next; 0 if all rows begin with the same values
  float* end;
  int64_t end_row;
};

// The part of the result that is written after the current one; `data` is null for none.
struct NextResult {
  const char* data = nullptr;
  int64_t row = 0;  // bytes from one row to the next
};

// Prefetches the vectors of the next panel (see TileArguments) and the next part of the result, some lines in each step
// of a group of tiles. Without prefetch, a store to memory that left the cache waits for each line.
template <class Cells, int kDown, int kVectors>
class TilesAhead {
 public:
  TilesAhead(const TileArguments& tile, const NextResult& next)
      : tile_(tile),
        ahead_(tile.ahead),
        next_(next),
        lines_(tile.rounded == nullptr ? kVectors : (kVectors + 1) / 2),
        rows_left_(next.data == nullptr ? 0 : kDown * kTileSide),
        rows_a_step_((kDown * kTileSide * Cells::kStep + tile.depth - 1) / std::max<int64_t>(tile.depth, 1)) {}

  HWY_INLINE void step() {
    for (int64_t row = 0; tile_.ahead_lines > 0 && row < kTileSide; ++row, ahead_ += kVectors * kTileSide) {
      for (int64_t line = 0; line < tile_.ahead_lines; ++line) {
        __builtin_prefetch(ahead_ + line * kTileSide, 0, 2);  // into the second-level cache, because the first is full
      }
    }
    for (RowsAhead* const rows : tile_.rows_ahead) {
      if (rows != nullptr) {
        rows->step();
      }
    }
    for (int64_t row = std::min(rows_left_, rows_a_step_); row > 0; --row, --rows_left_, next_.data += next_.row) {
      for (int64_t line = 0; line < lines_; ++line) {
        __builtin_prefetch(next_.data + line * kLineBytes, 0, 2);
      }
    }
  }

 private:
  static constexpr int64_t kLineBytes = kTileSide * sizeof(float);
  const TileArguments& tile_;
  const float* ahead_;
  NextResult next_;
  const int64_t lines_;
  int64_t rows_left_;
  const int64_t rows_a_step_;
};

// end [kDown * 16, kVectors * 16] = begin + A B for a panel of kVectors * 16 columns.
template <class Cells, int kDown, int kVectors>
HWY_INLINE void multiply_tiles(typename Cells::Tiles& tiles, const TileArguments& tile, const TileSums& sums,
                               const NextResult& next) {
  TilesAhead<Cells, kDown, kVectors> ahead(tile, next);
  constexpr std::make_integer_sequence<int, kDown * kVectors> kAll;
  for_each_sum<kVectors>(kAll, [&](auto row, auto column) HWY_ATTR {
    constexpr int kSum = row() * kVectors + column();
    if (sums.begin == nullptr) {
      tiles.template zero<kSum>();
    } else {
      tiles.template load<kSum>(sums.begin + row() * kTileSide * sums.begin_row + column() * kTileSide, sums.begin_row);
    }
  });
  for (int64_t k = 0; k < tile.depth; k += Cells::kStep) {
    ahead.step();
    Cells::template multiply_add_step<kDown, kVectors>(tiles, tile, k);
  }
  for_each_sum<kVectors>(kAll, [&](auto row, auto column) HWY_ATTR {
    tiles.template store<row() * kVectors + column()>(
        sums.end + row() * kTileSide * sums.end_row + column() * kTileSide, sums.end_row);
  });
}

template <class Cells, int kVectors>
HWY_INLINE void multiply_tiles_of_rows(typename Cells::Tiles& tiles, const TileArguments& tile, int64_t rows,
                                       const TileSums& sums, const NextResult& next) {
  rows > kTileSide ? multiply_tiles<Cells, kTilesDown, kVectors>(tiles, tile, sums, next)
                   : multiply_tiles<Cells, 1, kVectors>(tiles, tile, sums, next);
}

// C = value of the sums (+ C) (+ bias) for `rows` rows, `width` sums apart.
template <class Cells>
HWY_INLINE void store_sums(const TileArguments& tile, const float* sums, int64_t rows, int64_t width) {
  with_addends_of(tile, [&](auto accumulate, auto bias) HWY_ATTR {
    for (int64_t r = 0; r < rows; ++r) {
      for_each_vector(tile.columns, [&](auto part, int64_t column) HWY_ATTR {
        store_vector<Cells, accumulate, bias>(part, Cells::load(sums + r * width + column), tile, r, column);
      });
    }
  });
}

HWY_INLINE void copy_rows(const float* from, int64_t from_row, int64_t rows, int64_t columns, float* to,
                          int64_t to_row) {
  for (int64_t r = 0; r < rows; ++r) {
    for_each_vector(columns, [&](auto part, int64_t column) HWY_ATTR {
      part.store(part.load(from + r * from_row + column), to + r * to_row + column);
    });
  }
}

// The part of the depth that is multiplied.
struct DepthPart {
  bool first, last;
};

// Multiplies at most kTilesDown * 16 rows of a panel. Floating-point sums begin with C or with the bias.
template <class Cells, int kVectors>
HWY_INLINE void multiply_rows_of_tiles(typename Cells::Tiles& tiles, const TileArguments& tile, int64_t rows,
                                       DepthPart part, const NextResult& next) {
  constexpr int64_t kWidth = kVectors * kTileSide;
  alignas(64) float beside[kTilesDown * kTileSide * kWidth];
  if constexpr (IsInt8<Cells>) {
    multiply_tiles_of_rows<Cells, kVectors>(tiles, tile, rows, {nullptr, 0, beside, kWidth}, next);
    store_sums<Cells>(tile, beside, rows, kWidth);
  } else {
    const bool whole = rows % kTileSide == 0 && tile.columns == kWidth;
    TileSums sums{tile.sums, kWidth, tile.sums, kWidth};
    if (part.first) {
      sums.begin = tile.accumulate ? tile.c : tile.bias;
      sums.begin_row = tile.accumulate ? tile.c_row : 0;
      if (sums.begin != nullptr && !whole) {
        copy_rows(sums.begin, sums.begin_row, rows, tile.columns, beside, kWidth);
        sums.begin = beside;
        sums.begin_row = kWidth;
      }
    }
    const bool direct = whole && tile.rounded == nullptr;
    if (part.last) {
      sums.end = direct ? tile.c : beside;
      sums.end_row = direct ? tile.c_row : kWidth;
    }
    multiply_tiles_of_rows<Cells, kVectors>(tiles, tile, rows, sums, next);
    if (!part.last || direct) {
      return;
    }
    tile.rounded == nullptr ? copy_rows(beside, kWidth, rows, tile.columns, tile.c, tile.c_row)
                            : round_rows<Cells>(beside, kWidth, rows, tile);
  }
}

// Where the result is written from row `row` of the panel and from `column` on.
HWY_INLINE NextResult result_of(const TileArguments& tile, int64_t row, int64_t column) {
  if (tile.rounded != nullptr) {
    return {reinterpret_cast<const char*>(tile.rounded + row * tile.rounded_row + column),
            tile.rounded_row * static_cast<int64_t>(sizeof(BFloat16))};
  }
  return {reinterpret_cast<const char*>(tile.c + row * tile.c_row + column),
          tile.c_row * static_cast<int64_t>(sizeof(float))};
}

// Multiplies a part of the depth of one panel. The groups of tiles prefetch the next panel in equal parts. If they
// begin with C or end in C, they also prefetch the next part of C.
template <class Cells, int kVectors>
HWY_INLINE void multiply_panel_of_vectors(typename Cells::Tiles& tiles, TileArguments tile, int64_t rows,
                                          DepthPart part) {
  constexpr int64_t kRows = kTilesDown * kTileSide;
  const int64_t groups = (rows + kRows - 1) / kRows;
  // If many rows use a panel, the hardware prefetcher loads its lines early enough.
  int64_t lines = tile.ahead == nullptr || rows > kFewRows ? 0 : kVectors;
  const int64_t lines_a_group = (lines + groups - 1) / groups;
  const float* const next_panel = tile.ahead;
  const bool touches = tile.accumulate ? part.first : part.last;
  const NextResult next_columns = touches ? result_of(tile, 0, kVectors * kTileSide) : NextResult();
  while (rows > 0) {
    const int64_t count = std::min(rows, kRows);
    tile.ahead_lines = std::min(lines, lines_a_group);
    lines -= tile.ahead_lines;
    tile.ahead = next_panel + lines * kTileSide;
    const NextResult next = touches && rows > count ? result_of(tile, count, 0) : next_columns;
    multiply_rows_of_tiles<Cells, kVectors>(tiles, tile, count, part, next);
    skip_rows(tile, count);
    tile.sums += count * kVectors * kTileSide;
    rows -= count;
  }
}

// Calls `function` with the vectors of a panel `width` columns wide, a std::integral_constant.
template <class Function>
HWY_INLINE void with_vectors_of(int64_t width, const Function& function) {
  switch (width / kLanes) {
    case 1:
      return function(std::integral_constant<int, 1>());
    case 2:
      return function(std::integral_constant<int, 2>());
    default:
      return function(std::integral_constant<int, kTileVectors>());
  }
}

// Multiplies one panel by `rows` rows of A, packed row by row with room for whole tiles. `tile` describes the first
// row. In bfloat16 the depth is processed in parts, so that a part of the panel stays in the first-level cache. The
// panel at `next`, unless null, is prefetched meanwhile.
template <class Cells>
HWY_INLINE void multiply_panel_of_tiles(typename Cells::Tiles& tiles, TileArguments tile, int64_t rows, int64_t width,
                                        const float* next) {
  const int64_t whole = tile.depth, most = IsInt8<Cells> ? whole : kTileDepth;
  int64_t begin = 0;
  do {  // at least once: no depth yields the bias
    tile.depth = std::min(whole - begin, most);
    tile.ahead = next == nullptr ? nullptr : next + begin * width;
    with_vectors_of(width, [&](auto vectors) HWY_ATTR {
      multiply_panel_of_vectors<Cells, vectors()>(tiles, tile, rows, {begin == 0, begin + tile.depth == whole});
    });
    begin += tile.depth;
    tile.a += tile.depth;
    tile.panel += tile.depth * width;
  } while (begin < whole);
}

// Multiplies one panel in float32, whose blocks are at most kDepthBlock deep. The next panel, of any width, is split
// meanwhile.
template <class Cells>
HWY_INLINE void multiply_split_panel(typename Cells::Tiles& tiles, TileArguments tile, int64_t rows, int64_t width,
                                     const NextPanel& next, SplitPanels& panels) {
  const int64_t depth = tile.depth, groups = (rows + kTilesDown * kTileSide - 1) / (kTilesDown * kTileSide);
  tile.panel = panels.take({tile.panel, width}, next, depth);
  tile.depth = cells_of<SplitFloat32Cells>(depth);
  const int64_t products =
      std::max<int64_t>(groups * tile.depth / Cells::kStep * std::ssize(SplitFloat32Cells::kProducts), 1);
  tile.cells_to_split = (tile.depth / SplitFloat32Cells::kParts + products - 1) / products;
  tile.next_split = &panels.next_split();
  with_vectors_of(width, [&](auto vectors) HWY_ATTR {
    multiply_panel_of_vectors<Cells, vectors()>(tiles, tile, rows, {true, true});
  });
}

// A step of multiply_tiles takes the 16 cells of one tile.
template <class Cells>
struct WholeCells {
  static constexpr int64_t kStep = kTileSide;  // cells
  template <int kDown, int kVectors, class Tiles>
  static HWY_INLINE void multiply_add_step(Tiles& tiles, const TileArguments& tile, int64_t k) {
    constexpr int64_t kWidth = kVectors * kTileSide;
    multiply_add_group<Cells, kDown, kVectors>(tiles, tile.a + k, tile.a_row, tile.panel + k * kWidth, kWidth);
  }
};

// Packed as by the instructions of AVX-512 BF16, which every processor with AMX has.
template <class TileRegisters>
struct BFloat16InTiles : BFloat16DotCells, BFloat16Tiles<TileRegisters>, WholeCells<BFloat16InTiles<TileRegisters>> {
  static constexpr int64_t kMultiple = kTileSide;
};

template <class TileRegisters>
struct Int8InTiles : Int8Cells, WholeCells<Int8InTiles<TileRegisters>> {
  static constexpr int64_t kMultiple = kTileSide;
  using Tiles = TileRegisters;
  template <int kSum>
  static HWY_INLINE void multiply_add_tiles(Tiles& tiles) {
    tiles.template multiply_add_int8<kSum>();
  }
};

// B is packed as float32, A split. A step takes all parts of a group.
template <class TileRegisters>
struct Float32InTiles : Float32Cells, BFloat16Tiles<TileRegisters> {
  using Left = SplitFloat32Cells;
  static constexpr int64_t kStep = Left::kParts * kTileSide;
  template <int kDown, int kVectors>
  static HWY_INLINE void multiply_add_step(TileRegisters& tiles, const TileArguments& tile, int64_t k) {
    constexpr int64_t kWidth = kVectors * kTileSide;
#pragma GCC unroll 6
    for (const auto [left, right] : Left::kProducts) {
      multiply_add_group<Float32InTiles, kDown, kVectors>(
          tiles, tile.a + k + left * kTileSide, tile.a_row,
          tile.panel + right * PanelSplit::kDistance + k / Left::kParts * kWidth, kWidth);
      // Between products, where it overlaps with them; after all six it would wait for them.
      tile.next_split->advance(tile.cells_to_split);
      tile.next_left->step();
    }
  }
};
#else
template <class>
using BFloat16InTiles = BFloat16Cells;
template <class>
using Int8InTiles = Int8Cells;
template <class>
using Float32InTiles = Float32Cells;
#endif

template <class Cells>
concept InTiles = requires {
  typename Cells::Tiles;
};

// Multiplies float32 in parts.
template <class Cells>
concept IsSplit = requires {
  typename Cells::Left;
};

// Calls `function` with the format that `kernel` multiplies: one of floating point.
template <class Function>
HWY_INLINE void with_cells_of(ProductKernel kernel, const Function& function) {
  switch (kernel) {
    case ProductKernel::kFloat32:
      return function(Float32Cells());
    case ProductKernel::kFloat32Amx:
      return function(Float32InTiles<HardwareTiles>());
    case ProductKernel::kFloat32EmulatedAmx:
      return function(Float32InTiles<SoftwareTiles>());
    case ProductKernel::kBFloat16Widened:
      return function(BFloat16Cells());
    case ProductKernel::kBFloat16Dot:
      return function(BFloat16DotCells());
    case ProductKernel::kBFloat16Amx:
      return function(BFloat16InTiles<HardwareTiles>());
    case ProductKernel::kBFloat16EmulatedAmx:
      return function(BFloat16InTiles<SoftwareTiles>());
    default:
      HWY_ABORT("no product of floating point");  // the caller has checked the precision
  }
}

// Calls `function` with the format for weights that are packed once, which may also be int8.
template <class Function>
HWY_INLINE void with_packed_cells_of(ProductKernel kernel, const Function& function) {
  switch (kernel) {
    case ProductKernel::kInt8Widened:
      return function(Int8Cells());
    case ProductKernel::kInt8Dot:
      return function(Int8DotCells());
    case ProductKernel::kInt8Amx:
      return function(Int8InTiles<HardwareTiles>());
    case ProductKernel::kInt8EmulatedAmx:
      return function(Int8InTiles<SoftwareTiles>());
    default:
      return with_cells_of(kernel, function);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace dragoman::kernels
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
