// Blocks of a matrix product, as in Goto and van de Geijn 2008, for one instruction set. Include after highway.h,
// inside foreach_target. Shared by gemm (packs B at each call) and PackedMatrix (packed once), so both give the same
// bits.

#include <hwy/highway.h>
#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <variant>

#if defined(DRAGOMAN_KERNELS_GEMM_BLOCKS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef DRAGOMAN_KERNELS_GEMM_BLOCKS_INL_H_
#undef DRAGOMAN_KERNELS_GEMM_BLOCKS_INL_H_
#else
#define DRAGOMAN_KERNELS_GEMM_BLOCKS_INL_H_
#endif

#include "kernels/cpu/gemm/gemm_arguments.h"
#include "kernels/cpu/gemm/gemm_pack-inl.h"
#include "tensor/tensor.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman::kernels {
namespace HWY_NAMESPACE {

// Calls function(pointer to the first element), of float or, if cells hold bfloat16, of BFloat16.
template <class Cells, class Function>
HWY_INLINE void with_elements_of(const StoredOperand& operand, const Function& function) {
  if constexpr (HoldsBFloat16<Cells>) {
    if (!operand.is_float()) {
      return function(operand.bfloat16s());
    }
  }
  function(operand.floats());
}

// Panels of B. The panel of column j begins at panels + j * cells. Panels before `first` belong to earlier blocks.
struct RightPanels {
  const float* panels;
  int64_t cells;  // of a whole panel
  int64_t first;
  NextPanel after = {};                  // the first panel of the block that comes next, if that is as deep
  const float* column_scales = nullptr;  // of all columns, int8 only
  const int32_t* column_starts = nullptr;

  const float* panel(int64_t column, int64_t width) const { return panels + column * cells + first * width; }
  NextPanel first_panel(int64_t columns) const { return {panel(0, panel_width(columns)), panel_width(columns)}; }
};

struct Result {
  float* c;
  int64_t stride;
  int64_t columns;
  const float* bias;  // [columns], added to each row; null for none, and where it accumulates
  bool accumulate;
  BFloat16* rounded = nullptr;  // replaces C as the destination of the elements; with the distance of its rows
  int64_t rounded_stride = 0;
};

// Depth (in k) of a block. int8 has a single block, because the initial values of its sums count once.
template <class Cells>
constexpr int64_t block_depth() {
  if constexpr (IsInt8<Cells>) {
    return int64_t{1} << 40;
  }
  return (InTiles<Cells> && HoldsBFloat16<Cells> ? 2 : 1) * kDepthBlock * Cells::kDepth;
}

// Rows of a tile.
template <class Cells>
constexpr int64_t tile_rows() {
  return InTiles<Cells> ? 2 * kLanes : kTileRows;
}

// The largest number of rows of a block of A.
template <class Cells>
constexpr int64_t most_rows() {
  return InTiles<Cells> ? kMostRowsOfTiles : kMostRows;
}

// Rows of the next block of A if `left` are left. A block of few rows would read all of B for little work. Therefore
// slightly more rows than usual form one block, and up to twice as many form two equal blocks.
template <class Cells>
HWY_INLINE int64_t rows_of_block(int64_t left) {
  constexpr int64_t kUsual = InTiles<Cells> ? kRowsOfTiles : kRowBlock, kRows = tile_rows<Cells>();
  if (left <= most_rows<Cells>()) {
    return left;
  }
  return left < 2 * kUsual ? (left / 2 + kRows - 1) / kRows * kRows : kUsual;
}

// The format in which A is packed.
template <class Cells>
struct LeftOf {
  using Format = Cells;
};
template <class Cells>
requires IsSplit<Cells>
struct LeftOf<Cells> {
  using Format = typename Cells::Left;
};

// Memory for one packed block of A, and for the sums of a panel that are not yet in C.
template <class Cells>
class LeftScratch {
 public:
  using Format = typename LeftOf<Cells>::Format;

  LeftScratch(bool transposed, int64_t rows, int64_t depth) {
    if (transposed || Format::kDepth > 1) {
      const int64_t lines = whole_tiles(rows);
      cells_ = tensor::Tensor::empty({lines * row_cells(std::min(depth, block_depth<Cells>()))});
    }
    if constexpr (HoldsBFloat16<Cells>) {
      sums_ = tensor::Tensor::empty({whole_tiles(rows), kPanelColumns});
    }
  }
  float* data() { return cells_.defined() ? cells_.data<float>() : nullptr; }
  // int8 only: finds the scale of each of at most most_rows whole rows, before their first block is packed.
  void measure(const StoredOperand& left, int64_t rows, int64_t depth) {
    if constexpr (IsInt8<Cells>) {
      for (int64_t row = 0; row < rows; ++row) {
        row_scales_[row] = largest_magnitude(left.floats() + row * left.stride, depth) / kInt8Largest;
      }
    }
  }
  const float* row_scales() const { return row_scales_; }
  float* sums() { return sums_.defined() ? sums_.data<float>() : nullptr; }
  SplitPanels& split_panels() { return split_panels_; }

  // float32 in tiles only: splits the rest of `left` and returns its parts. `next` follows. Unless it has no rows, it
  // is split during the next `steps` steps of the tiles.
  float* take(const LeftBlock& left, const LeftBlock& next, int64_t steps) requires IsSplit<Cells> {
    if (!(left == left_ahead_)) {
      split_left_.start(left, data(), row_cells(left.depth));
    }
    split_left_.finish();
    float* const parts = data();
    left_ahead_ = next;
    if (next.rows > 0 && !(next == left)) {
      std::swap(cells_, other_cells_);
      if (!cells_.defined()) {
        cells_ = tensor::Tensor::empty(other_cells_.shape());
      }
      split_left_.start(next, data(), row_cells(next.depth));
      split_left_.spread(steps * std::ssize(Format::kProducts));
    }
    return parts;
  }
  LeftSplit& split_left() { return split_left_; }
  // Distance of packed rows, in whole vectors. Rows of a tile at a power-of-two distance would compete for a few lines
  // of the cache, hence one more vector.
  static int64_t row_cells(int64_t depth) {
    return (cells_of<Format>(depth) + kLanes - 1) / kLanes * kLanes + (InTiles<Cells> ? kLanes : 0);
  }

 private:
  // Rows that tiles read, padding included.
  static int64_t whole_tiles(int64_t rows) {
    constexpr int64_t kRows = tile_rows<Cells>();
    return (std::min(rows, most_rows<Cells>()) + kRows - 1) / kRows * kRows;
  }

  tensor::Tensor cells_;
  tensor::Tensor sums_;  // bfloat16 only
  float row_scales_[IsInt8<Cells> ? most_rows<Cells>() : 1];
  // float32 in tiles only: the next block is split into cells_, while the current block is in other_cells_
  template <class T>
  using IfSplit = std::conditional_t<IsSplit<Cells>, T, std::monostate>;
  IfSplit<SplitPanels> split_panels_;
  IfSplit<LeftSplit> split_left_;
  LeftBlock left_ahead_;
  tensor::Tensor other_cells_;
};

// Returns true if `rows` rows of A are cells as stored and fill whole tiles.
template <class Cells>
bool is_placed(const StoredOperand& left, int64_t rows, int64_t depth) {
  if constexpr (InTiles<Cells> && HoldsBFloat16<Cells>) {
    return !left.is_float() && !left.transposed && rows % kLanes == 0 && left.stride <= 1024 &&
           left.stride % Cells::kDepth == 0 && depth % (Cells::kDepth * Cells::kMultiple) == 0;
  }
  return false;
}

// Packs a block of A, unless its cells can be read in place. `tile` receives their address.
template <class Cells>
void place_left(const LeftBlock& block, LeftScratch<Cells>& scratch, TileArguments& tile) {
  const auto& [left, rows, depth] = block;
  if (is_placed<Cells>(left, rows, depth)) {
    tile.a_row = left.stride / Cells::kDepth;
    return;
  }
  if constexpr (IsInt8<Cells>) {
    tile.a = scratch.data();
    tile.a_row = LeftScratch<Cells>::row_cells(depth);
    tile.row_scales = scratch.row_scales();
    for (int64_t row = 0; row < rows; ++row) {
      const float scale = scratch.row_scales()[row];
      quantise_row<Cells>(left.floats() + row * left.stride, depth, scale > 0 ? 1.0F / scale : 0.0F, tile.a_row,
                          scratch.data() + row * tile.a_row);
    }
  } else if (left.transposed && !InTiles<Cells>) {
    with_elements_of<Cells>(left, [&](const auto* a) HWY_ATTR {
      pack_left_transposed<Cells>(a, left.stride, depth, rows, scratch.data());
    });
    tile.a = scratch.data();
    tile.a_row = 1;
    tile.a_depth = kTileRows;
  } else if constexpr (Cells::kDepth > 1) {
    tile.a = scratch.data();
    tile.a_row = LeftScratch<Cells>::row_cells(depth);
    with_elements_of<Cells>(left, [&](const auto* a) HWY_ATTR {
      left.transposed ? pack_left_transposed<Cells>(a, left.stride, depth, rows, tile.a_row, scratch.data())
                      : pack_left<Cells>(a, left.stride, depth, rows, tile.a_row, scratch.data());
    });
  }
}

// Returns the rows of A after `row` if tiles read them in place, otherwise none.
template <class Cells>
RowsAhead rows_after(const StoredOperand& left, int64_t row, int64_t all_rows, int64_t depth) {
  const int64_t rows = rows_of_block<Cells>(all_rows - row);
  if (!is_placed<Cells>(left, rows, depth)) {
    return {};
  }
  constexpr auto kBytes = static_cast<int64_t>(sizeof(BFloat16));
  return {left.at(row, 0).bfloat16s(), rows, left.stride * kBytes, depth * kBytes};
}

// Returns the number of steps of the tiles for a product of these rows, columns and cells of depth.
template <class Cells>
int64_t tile_steps(int64_t rows, int64_t columns, int64_t cells) {
  const auto parts = [](int64_t size, int64_t part) { return (size + part - 1) / part; };
  return parts(columns, kPanelColumns) * parts(rows, tile_rows<Cells>()) * parts(cells, kLanes);
}

// The block of A that is placed next, and the columns that the tiles multiply until then.
struct AfterBlock {
  LeftBlock left = {};
  int64_t columns = 0;
};

// At most most_rows rows of A, packed or in place.
template <class Cells>
TileArguments placed_block(const LeftBlock& left, LeftScratch<Cells>& scratch, const AfterBlock& after = {}) {
  const auto& [operand, rows, depth] = left;
  TileArguments tile{operand.floats(), operand.stride, 1, nullptr, cells_of<Cells>(depth), nullptr, 0, 0,
                     nullptr,          false};
  if constexpr (IsSplit<Cells>) {
    tile.a = scratch.take(left, after.left, tile_steps<Cells>(rows, after.columns, (depth + 1) / 2));
    tile.a_row = LeftScratch<Cells>::row_cells(depth);
    tile.next_left = &scratch.split_left();
  } else {
    place_left(left, scratch, tile);
  }
  return tile;
}

// Computes C (+)= A B + bias for a block of A that was placed, and all columns of `result`.
template <class Cells>
void multiply_placed(TileArguments tile, bool left_transposed, int64_t rows, const RightPanels& right,
                     const Result& result, LeftScratch<Cells>& scratch) {
  tile.c_row = result.stride;
  tile.accumulate = result.accumulate;
  tile.rounded_row = result.rounded_stride;
  tile.sums = scratch.sums();
  const auto for_each_panel = [&](const auto& multiply) HWY_ATTR {
    for (int64_t column = 0; column < result.columns; column += kPanelColumns) {
      tile.columns = std::min(result.columns - column, kPanelColumns);
      const int64_t width = panel_width(tile.columns);
      tile.panel = right.panel(column, width);
      if (result.rounded != nullptr) {
        tile.rounded = result.rounded + column;
        tile.c = scratch.sums();
        tile.c_row = width;
      } else {
        tile.c = result.c + column;
      }
      tile.bias = result.bias == nullptr ? nullptr : result.bias + column;
      if constexpr (IsInt8<Cells>) {
        tile.column_scales = right.column_scales + column;
        tile.column_starts = right.column_starts + column;
      }
      const int64_t next = column + kPanelColumns, next_width = panel_width(result.columns - next);
      if constexpr (IsSplit<Cells>) {
        multiply(width, next < result.columns ? NextPanel{right.panel(next, next_width), next_width} : right.after);
      } else {
        multiply(width, next_width == width ? right.panel(next, width) : nullptr);
      }
    }
  };
  if constexpr (IsSplit<Cells>) {
    typename Cells::Tiles tiles;
    for_each_panel([&](int64_t width, const NextPanel& next) HWY_ATTR {
      multiply_split_panel<Cells>(tiles, tile, rows, width, next, scratch.split_panels());
    });
  } else if constexpr (InTiles<Cells>) {
    typename Cells::Tiles tiles;
    for_each_panel([&](int64_t width, const float* next)
                       HWY_ATTR { multiply_panel_of_tiles<Cells>(tiles, tile, rows, width, next); });
  } else if (left_transposed) {
    for_each_panel([&](int64_t width, const float*) HWY_ATTR { multiply_panel_of_blocks<Cells>(tile, rows, width); });
  } else {
    for_each_panel([&](int64_t width, const float* next) HWY_ATTR {
      multiply_panel<Cells>(tile, rows, width, next);
      if (tile.rounded != nullptr) {
        round_rows<Cells>(scratch.sums(), width, rows, tile);
      }
    });
  }
}

// Computes C (+)= A B + bias for at most most_rows rows and all columns of `result`.
// @param next   the next block of A
// @param ahead  the next parts of both operands, to be prefetched
template <class Cells>
void multiply_block(const LeftBlock& left, const RightPanels& right, const Result& result, LeftScratch<Cells>& scratch,
                    const LeftBlock& next = {}, std::span<RowsAhead> ahead = {}) {
  TileArguments tile = placed_block(left, scratch, {next, result.columns});
  for (size_t i = 0; i < ahead.size(); ++i) {
    tile.rows_ahead[i] = &ahead[i];
  }
  multiply_placed<Cells>(tile, left.operand.transposed, left.rows, right, result, scratch);
}

}  // namespace HWY_NAMESPACE
}  // namespace dragoman::kernels
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
