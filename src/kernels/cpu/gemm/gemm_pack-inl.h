// Packing of operands into cells for the tiles of gemm_tile-inl.h, for one instruction set. Include after highway.h,
// inside foreach_target. Operands are float32, or bfloat16 for cells that hold these. Depths count k, `stride` elements
// between rows as stored; cells beyond the depth or the columns are 0.

#include <hwy/highway.h>
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#if defined(DRAGOMAN_KERNELS_GEMM_PACK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef DRAGOMAN_KERNELS_GEMM_PACK_INL_H_
#undef DRAGOMAN_KERNELS_GEMM_PACK_INL_H_
#else
#define DRAGOMAN_KERNELS_GEMM_PACK_INL_H_
#endif

#include "kernels/cpu/gemm/gemm_amx-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr int64_t kPackChunk = 8;  // rows read side by side: few enough lines at power-of-two strides for the L1 cache

// Returns the first `count` of a vector of bfloat16, each in the lower half of a 32-bit lane, followed by zeros.
HWY_INLINE auto load_some_bfloat16(const BFloat16* from, int64_t count) {
  if (count >= kLanes) {
    return load_bfloat16(from);
  }
  BFloat16 some[kLanes] = {};
  std::copy_n(from, count, some);
  return load_bfloat16(some);
}

template <class Cells>
HWY_INLINE void store_cells(const BFloat16* row, int64_t stride, int64_t left, int64_t count, float* to) {
  static_assert(HoldsBFloat16<Cells>);
  auto cells = load_some_bfloat16(row, count);
  if (left > 1) {
    cells = hn::Or(cells, hn::ShiftLeft<16>(load_some_bfloat16(row + stride, count)));
  }
  hn::StoreU(hn::BitCast(Tag(), cells), Tag(), to);
}

// Stores `count` columns (at most kLanes) of the cell whose first k is row `row`; `left` rows are left from there on.
template <class Cells>
HWY_INLINE void store_cells(const float* row, int64_t stride, int64_t left, int64_t count, float* to) {
  const Tag d;
  const auto load = [&](const float* from) HWY_ATTR {
    return count >= kLanes ? hn::LoadU(d, from) : hn::MaskedLoad(hn::FirstN(d, static_cast<size_t>(count)), d, from);
  };
  if constexpr (Cells::kDepth == 1) {
    hn::StoreU(load(row), d, to);
  } else {
    hn::StoreU(Cells::join(load(row), left > 1 ? load(row + stride) : hn::Zero(d)), d, to);
  }
}

// Clears the cells of a packed panel that lie beyond the depth.
template <class Cells>
HWY_INLINE void clear_padding(float* panel, int64_t depth, int64_t width) {
  if constexpr (Cells::kMultiple > 1) {
    std::fill(panel + (depth + Cells::kDepth - 1) / Cells::kDepth * width, panel + cells_of<Cells>(depth) * width,
              0.0F);
  }
}

// Packs columns [0, columns) of B [depth, columns]; the padding of the panel is left as it is.
template <class Cells, class Element>
HWY_INLINE void pack_part_of_panel(const Element* b, int64_t stride, int64_t depth, int64_t columns, float* packed) {
  const int64_t width = panel_width(columns);
  for (int64_t k = 0; k < depth; k += Cells::kDepth, b += Cells::kDepth * stride, packed += width) {
    for (int64_t j = 0; j < columns; j += kLanes) {
      store_cells<Cells>(b + j, stride, depth - k, columns - j, packed + j);
    }
  }
}

template <class Cells, class Element>
HWY_INLINE void pack_panel(const Element* b, int64_t stride, int64_t depth, int64_t columns, float* packed) {
  pack_part_of_panel<Cells>(b, stride, depth, columns, packed);
  clear_padding<Cells>(packed, depth, panel_width(columns));
}

// Packs all panels of B [depth, columns], a few rows of B at a time, each read from end to end.
template <class Cells, class Element>
HWY_INLINE void pack_panels(const Element* b, int64_t stride, int64_t depth, int64_t columns, float* packed) {
  constexpr int64_t kChunk = kPackChunk * Cells::kDepth;
  const int64_t cells = cells_of<Cells>(depth);
  for (int64_t k = 0; k < depth; k += kChunk) {
    for (int64_t column = 0; column < columns; column += kPanelColumns) {
      const int64_t count = std::min(columns - column, kPanelColumns);
      pack_part_of_panel<Cells>(b + k * stride + column, stride, std::min(kChunk, depth - k), count,
                                packed + column * cells + k / Cells::kDepth * panel_width(count));
    }
  }
  for (int64_t column = 0; column < columns; column += kPanelColumns) {
    clear_padding<Cells>(packed + column * cells, depth, panel_width(std::min(columns - column, kPanelColumns)));
  }
}

// Packs rows that are already bfloat16.
template <class Cells>
HWY_INLINE void pack_left(const BFloat16* a, int64_t stride, int64_t depth, int64_t rows, int64_t row_cells,
                          float* packed) {
  static_assert(HoldsBFloat16<Cells>);
  const int64_t padding = (depth + 2 * kLanes - 1) / (2 * kLanes) * (2 * kLanes) - depth;
  for (int64_t row = 0; row < rows; ++row, a += stride, packed += row_cells) {
    auto* const to = reinterpret_cast<char*>(packed);
    std::memcpy(to, a, static_cast<size_t>(depth) * sizeof(BFloat16));
    std::memset(to + static_cast<size_t>(depth) * sizeof(BFloat16), 0, static_cast<size_t>(padding) * sizeof(BFloat16));
  }
}

// Rounds rows of A [rows, depth] into cells, `row_cells` apart, a multiple of kLanes. Only for cells of several k:
// float32 is read where it lies.
template <class Cells>
HWY_INLINE void pack_left(const float* a, int64_t stride, int64_t depth, int64_t rows, int64_t row_cells,
                          float* packed) {
  const Tag d;
  const auto store = [&](Vector low, Vector high, int64_t k)
                         HWY_ATTR { hn::StoreU(Cells::join_neighbours(low, high), d, packed + k / 2); };
  for (int64_t row = 0; row < rows; ++row, a += stride, packed += row_cells) {
    int64_t k = 0;
    for (; k + 2 * kLanes <= depth; k += 2 * kLanes) {
      store(hn::LoadU(d, a + k), hn::LoadU(d, a + k + kLanes), k);
    }
    if (k < depth) {
      const int64_t left = depth - k;
      const auto low = hn::FirstN(d, static_cast<size_t>(std::min(left, kLanes)));
      const auto high = hn::FirstN(d, static_cast<size_t>(std::max<int64_t>(left - kLanes, 0)));
      const Vector second = left > kLanes ? hn::MaskedLoad(high, d, a + k + kLanes) : hn::Zero(d);
      store(hn::MaskedLoad(low, d, a + k), second, k);
    }
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

// Writes the transpose of `rows` rows (at most kLanes) x `columns` columns, lines of `width` floats; lanes that have
// no row become 0.
HWY_INLINE void transpose_rows(const float* from, int64_t stride, int64_t rows, int64_t columns, int64_t width,
                               float* packed) {
  int64_t k = 0;
  for (; rows == kLanes && k + 4 <= columns; k += 4) {
    transpose_four_columns(from + k, stride, width, packed + k * width);
  }
  for (; k < columns; ++k) {
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      packed[k * width + lane] = lane < rows ? from[lane * stride + k] : 0.0F;
    }
  }
}

// pack_panel from B^T: row j of `b` is column j of B.
template <class Cells, class Element>
HWY_INLINE void pack_panel_transposed(const Element* b, int64_t stride, int64_t depth, int64_t columns, float* packed) {
  const int64_t width = panel_width(columns);
  for (int64_t j = 0; j < width; j += kLanes) {
    const int64_t rows = std::min(columns - j, kLanes);
    if constexpr (Cells::kDepth == 1) {
      transpose_rows(b + j * stride, stride, rows, depth, width, packed + j);
    } else {
      constexpr int64_t kChunk = 64;  // cells
      alignas(64) float rounded[kLanes * kChunk];
      for (int64_t k = 0; k < depth; k += kChunk * Cells::kDepth) {
        const int64_t part = std::min(depth - k, kChunk * Cells::kDepth);
        pack_left<Cells>(b + j * stride + k, stride, part, rows, kChunk, rounded);
        transpose_rows(rounded, kChunk, rows, cells_of<Cells>(part), width, packed + k / Cells::kDepth * width + j);
      }
    }
  }
}

// Packs at most kMostRows rows of A given as A^T [depth, rows]: block after block of kTileRows rows, cell (r, k) of a
// block at [k * kTileRows + r].
template <class Cells, class Element>
HWY_INLINE void pack_left_transposed(const Element* a, int64_t stride, int64_t depth, int64_t rows, float* packed) {
  constexpr int64_t kLine = (kMostRows + kLanes - 1) / kLanes * kLanes;
  alignas(64) float lines[Cells::kDepth == 1 ? 1 : kPackChunk * kLine];
  const int64_t cells = cells_of<Cells>(depth);
  for (int64_t begin = 0; begin < cells; begin += kPackChunk) {
    const int64_t end = std::min(begin + kPackChunk, cells);
    const float* from = lines;
    int64_t from_stride = kLine;
    if constexpr (Cells::kDepth == 1) {
      from = a + begin * stride;
      from_stride = stride;
    } else {
      for (int64_t k = begin; k < end; ++k) {
        for (int64_t row = 0; row < rows; row += kLanes) {
          const int64_t line = k * Cells::kDepth;
          store_cells<Cells>(a + line * stride + row, stride, depth - line, rows - row,
                             lines + (k - begin) * kLine + row);
        }
      }
    }
    int64_t row = 0;
    for (; row + kTileRows <= rows; row += kTileRows) {
      for (int64_t k = 0; k < end - begin; ++k) {
        std::memcpy(packed + row * cells + (begin + k) * kTileRows, from + k * from_stride + row,
                    kTileRows * sizeof(float));
      }
    }
    for (int64_t k = 0; row < rows && k < end - begin; ++k) {
      const float* line = from + k * from_stride;
      std::copy(line + row, line + rows, packed + row * cells + (begin + k) * kTileRows);
    }
  }
}

// Of A^T [2 * kLanes, rows] in bfloat16: cells of kLanes pairs of its rows, transposed, `row_cells` apart. `lines` has
// room for kLanes lines of `rows` cells.
// @param rows  a multiple of 2 * kLanes
HWY_INLINE void pack_transposed_pairs(const BFloat16* a, int64_t stride, int64_t rows, float* lines, int64_t row_cells,
                                      float* packed) {
  for (int64_t k = 0; k < kLanes; ++k) {
    const BFloat16* const first = a + 2 * k * stride;
    for (int64_t row = 0; row < rows; row += 2 * kLanes) {
      store_unpacked(load_row(first + row), load_row(first + stride + row), lines + k * rows + row);
    }
  }
  for (int64_t row = 0; row < rows; row += 2 * kLanes) {
    for (int64_t column = 0; column < kLanes; column += 4) {
      const float* const lower = lines + row + column;
      transpose_four_columns(lower, rows, row_cells, packed + (row + 2 * column) * row_cells);
      transpose_four_columns(lower + kLanes, rows, row_cells, packed + (row + 2 * column + 4) * row_cells);
    }
  }
}

// Packs rows of A given as A^T [depth, rows] as pack_left does, `row_cells` apart.
template <class Cells, class Element>
HWY_INLINE void pack_left_transposed(const Element* a, int64_t stride, int64_t depth, int64_t rows, int64_t row_cells,
                                     float* packed) {
  constexpr int64_t kLine = 8 * kLanes;  // rows transposed at a time
  alignas(64) float lines[kLanes * kLine];
  const int64_t cells = (depth + Cells::kDepth - 1) / Cells::kDepth;
  for (int64_t begin = 0; begin < cells; begin += kLanes, packed += kLanes) {
    const int64_t count = std::min(kLanes, cells - begin);
    for (int64_t first = 0; first < rows; first += kLine) {
      const int64_t some = std::min(rows - first, kLine);
      if constexpr (std::is_same_v<Element, BFloat16>) {
        if (some % (2 * kLanes) == 0 && (begin + kLanes) * Cells::kDepth <= depth) {
          pack_transposed_pairs(a + begin * Cells::kDepth * stride + first, stride, some, lines, row_cells,
                                packed + first * row_cells);
          continue;
        }
      }
      for (int64_t k = 0; k < count; ++k) {
        const int64_t line = (begin + k) * Cells::kDepth;
        for (int64_t row = 0; row < some; row += kLanes) {
          store_cells<Cells>(a + line * stride + first + row, stride, depth - line, some - row,
                             lines + k * kLine + row);
        }
      }
      transpose_rows(lines, kLine, count, some, row_cells, packed + first * row_cells);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace dragoman::kernels
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
