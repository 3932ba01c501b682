// Splits operands of float32 into the parts that tile registers multiply (SplitFloat32Cells). The next operand is split
// while the tiles multiply the current one, which overlaps because tiles leave the vector units idle. Include after
// highway.h, inside foreach_target.

#include <hwy/highway.h>
#include <algorithm>
#include <cstdint>

#if defined(DRAGOMAN_KERNELS_GEMM_SPLIT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef DRAGOMAN_KERNELS_GEMM_SPLIT_INL_H_
#undef DRAGOMAN_KERNELS_GEMM_SPLIT_INL_H_
#else
#define DRAGOMAN_KERNELS_GEMM_SPLIT_INL_H_
#endif

#include "kernels/cpu/gemm/gemm_arguments.h"
#include "kernels/cpu/gemm/gemm_tile-inl.h"
#include "kernels/cpu/simd/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The panel that is multiplied next, and its width; null for none.
struct NextPanel {
  const float* panel = nullptr;
  int64_t width = 0;
};

// One panel, split cell after cell: two neighbours in k of all columns.
class PanelSplit {
 public:
  PanelSplit() = default;
  // @param to  memory for the parts, kDistance apart
  PanelSplit(const NextPanel& panel, int64_t depth, float* to)
      : row_(panel.panel), width_(panel.width), rows_left_(depth), to_(to) {}

  // A multiple of the page size. Parts stored together then have the same offset in a page, so that fewer loads of
  // tiles alias with pending stores.
  static constexpr int64_t kDistance = kDepthBlock / 2 * kPanelColumns;

  // Splits the next `cells` cells, or the rest if fewer are left.
  HWY_INLINE void advance(int64_t cells) {
    switch (width_ / kLanes) {
      case 0:
        return;
      case 1:
        return split<1>(cells);
      case 2:
        return split<2>(cells);
      default:
        return split<kTileVectors>(cells);
    }
  }

 private:
  static constexpr int64_t kRowsAhead = 16;

  template <int kVectors>
  HWY_INLINE void split(int64_t cells) {
    constexpr int64_t kWidth = kVectors * kLanes;
    // Copies, since the compiler must suppose that a store of vectors changes the members.
    const float* row = row_;
    float* to = to_;
    int64_t rows_left = rows_left_, cell = cell_;
    for (; cells > 0 && (rows_left > 0 || cell > 0); --cells, rows_left -= 2, row += 2 * kWidth, to += kWidth) {
      for (int64_t column = 0; column < kWidth; column += kLanes) {
        __builtin_prefetch(row + kRowsAhead * kWidth + column);
        __builtin_prefetch(row + (kRowsAhead + 1) * kWidth + column);
        const Vector first = rows_left > 0 ? hn::LoadU(Tag(), row + column) : hn::Zero(Tag());
        const Vector second = rows_left > 1 ? hn::LoadU(Tag(), row + kWidth + column) : hn::Zero(Tag());
        SplitFloat32Cells::store_joined(first, second, to + column, kDistance);
      }
      cell = (cell + 1) % SplitFloat32Cells::kMultiple;
    }
    row_ = row;
    to_ = to;
    rows_left_ = rows_left;
    cell_ = cell;
  }

  const float* row_ = nullptr;
  int64_t width_ = 0;
  int64_t rows_left_ = 0;
  int64_t cell_ = 0;  // in its group, which is padded with zeros
  float* to_ = nullptr;
};

// Two panels in parts: one is multiplied while the next is split. They are split at each use, because parts take half
// as much memory again, which would take longer to arrive than splitting takes beside the tiles.
class SplitPanels {
 public:
  // Splits the rest of `panel` and returns its parts. From then on next_split() splits `next`, which is equally deep
  // and is the next panel unless there is none.
  const float* take(const NextPanel& panel, const NextPanel& next, int64_t depth) {
    if (panel_ahead_ != panel.panel) {
      ahead_ = PanelSplit(panel, depth, parts_[side_]);
    }
    ahead_.advance(cells_of<SplitFloat32Cells>(depth));  // more than it has
    const float* const parts = parts_[side_];
    side_ = 1 - side_;
    panel_ahead_ = next.panel;
    ahead_ = PanelSplit(next, depth, parts_[side_]);
    return parts;
  }
  PanelSplit& next_split() { return ahead_; }

 private:
  // Of a block of kDepthBlock k, two to a cell.
  alignas(64) float parts_[2][SplitFloat32Cells::kParts * PanelSplit::kDistance];
  int side_ = 0;
  const float* panel_ahead_ = nullptr;
  PanelSplit ahead_;
};

// Rows of A, in the depth of one block; none if `rows` is 0.
struct LeftBlock {
  StoredOperand operand = {};
  int64_t rows = 0, depth = 0;

  bool operator==(const LeftBlock& other) const {
    return operand.data == other.operand.data && rows == other.rows && depth == other.depth;
  }
};

#if HWY_TARGET == HWY_AVX3
// One block of A, split a piece at a time. A piece is 32 neighbours in k of a row. Of A^T, it is two rows at 16
// columns, or one part of 32 rows transposed.
class LeftSplit {
 public:
  // Begins with another block.
  // @param to         room for all parts of whole tiles
  // @param row_cells  from one of its rows to the next
  void start(const LeftBlock& left, float* to, int64_t row_cells) {
    left_ = left;
    to_ = to;
    row_cells_ = row_cells;
    row_ = k_ = piece_ = due_ = due_a_step_ = 0;
    const int64_t groups = (left.depth + kGroup - 1) / kGroup;
    pieces_left_ =
        left.operand.transposed ? groups * ((left.rows + kLanes - 1) / kLanes) * kPiecesOfTurn : groups * left.rows;
  }

  // Spreads the rest over this number of steps.
  void spread(int64_t steps) { due_a_step_ = pieces_left_ * kWhole / std::max<int64_t>(steps, 1) + 1; }
  HWY_INLINE void step() {
    for (due_ += due_a_step_; due_ >= kWhole; due_ -= kWhole) {
      advance();
    }
  }
  void finish() {
    while (pieces_left_ > 0) {
      advance();
    }
  }

 private:
  static constexpr int kParts = SplitFloat32Cells::kParts;
  static constexpr int64_t kGroup = 2 * kLanes;  // k of a vector of cells
  static constexpr int64_t kPiecesOfTurn = kLanes + kParts;
  static constexpr int64_t kWhole = 1 << 16;  // a piece

  HWY_NOINLINE void advance() {
    if (pieces_left_ > 0) {
      --pieces_left_;
      left_.operand.transposed ? advance_turn() : advance_row();
    }
  }

  // Returns the first `count` floats, followed by zeros.
  static HWY_INLINE Vector load_some(const float* from, int64_t count) {
    const Tag d;
    return count >= kLanes ? hn::LoadU(d, from)
                           : hn::MaskedLoad(hn::FirstN(d, static_cast<size_t>(std::max<int64_t>(count, 0))), d, from);
  }

  float* place() const { return to_ + row_ * row_cells_ + k_ / kGroup * kParts * kLanes; }

  HWY_INLINE void advance_row() {
    const float* const from = left_.operand.floats() + row_ * left_.operand.stride + k_;
    __builtin_prefetch(from + left_.operand.stride);
    __builtin_prefetch(from + left_.operand.stride + kLanes);
    const int64_t count = left_.depth - k_;
    SplitFloat32Cells::store_neighbours(load_some(from, count), load_some(from + kLanes, count - kLanes), place(),
                                        kLanes);
    k_ += kGroup;
    if (k_ >= left_.depth) {
      k_ = 0;
      ++row_;
    }
  }

  HWY_INLINE void advance_turn() {
    if (piece_ < kLanes) {
      const auto load = [&](int64_t k) HWY_ATTR {
        const float* const from = left_.operand.floats() + k * left_.operand.stride + row_;
        __builtin_prefetch(from + kLanes);
        return k < left_.depth ? load_some(from, left_.rows - row_) : hn::Zero(Tag());
      };
      const int64_t k = k_ + 2 * piece_;
      SplitFloat32Cells::store_joined(load(k), load(k + 1), lines_[0][piece_], kLanes * kLanes);
    } else {
      const int64_t part = piece_ - kLanes;
      transpose_sixteen_rows([&](int64_t i) HWY_ATTR { return hn::Load(Tag(), lines_[part][i]); },
                             place() + part * kLanes, row_cells_);
    }
    if (++piece_ == kPiecesOfTurn) {
      piece_ = 0;
      row_ += kLanes;
      if (row_ >= left_.rows) {
        row_ = 0;
        k_ += kGroup;
      }
    }
  }

  LeftBlock left_;
  float* to_ = nullptr;
  int64_t row_cells_ = 0;
  int64_t row_ = 0, k_ = 0, piece_ = 0;  // where the next piece is
  int64_t pieces_left_ = 0;
  int64_t due_ = 0, due_a_step_ = 0;                 // in 1 / kWhole of a piece
  alignas(64) float lines_[kParts][kLanes][kLanes];  // of A^T
};
#endif

}  // namespace HWY_NAMESPACE
}  // namespace dragoman::kernels
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
