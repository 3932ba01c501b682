// Panels of float32 on their way into the parts that tile registers multiply (SplitFloat32Cells). Include after
// highway.h, inside foreach_target.

#include <hwy/highway.h>
#include <algorithm>
#include <cstdint>

#if defined(DRAGOMAN_OPS_GEMM_SPLIT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef DRAGOMAN_OPS_GEMM_SPLIT_INL_H_
#undef DRAGOMAN_OPS_GEMM_SPLIT_INL_H_
#else
#define DRAGOMAN_OPS_GEMM_SPLIT_INL_H_
#endif

#include "ops/gemm_tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman::ops {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// A panel that is multiplied after another one, and how wide it is; null for none.
struct NextPanel {
  const float* panel = nullptr;
  int64_t width = 0;
};

// One panel, split cell after cell: two neighbours in k of all columns.
class PanelSplit {
 public:
  PanelSplit() = default;
  // @param to  room for the parts, each kDistance after the one before
  PanelSplit(const NextPanel& panel, int64_t depth, float* to)
      : row_(panel.panel), width_(panel.width), rows_left_(depth), to_(to) {}

  // A multiple of the size of a page: what is stored at once are lines of the same place in a page, with which fewer
  // loads of tiles can be mistaken for loads of what is being stored.
  static constexpr int64_t kDistance = kDepthBlock / 2 * kPanelColumns;

  // Splits the next `cells` cells, or those that are left.
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
// as much memory again, which would take longer to arrive than splitting takes beside tile registers, which leave the
// vector units idle.
class SplitPanels {
 public:
  // Splits what is not yet split of `panel` and returns its parts. `next`, as deep, is the one that next_split() splits
  // from now on, and that comes next unless there is none.
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

}  // namespace HWY_NAMESPACE
}  // namespace dragoman::ops
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
