#include "kernels/cpu/gemm/gemm_cpu.h"

#include "kernels/cpu/simd/simd.h"

#include <array>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/gemm/gemm_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/cpu/gemm/gemm_blocks-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman::kernels {
namespace HWY_NAMESPACE {
namespace {

// The number of columns of B, kDepthBlock cells deep, that are packed at a time into the third-level cache.
constexpr int64_t kColumnBlock = 2112 / kPanelColumns * kPanelColumns;

// Depth of a block. Where C stays in the second-level cache, tiles go on from there at little cost, and of a short part
// of A and B the packed copies stay there as well.
template <class Cells>
int64_t depth_of_block(const GemmArguments& product) {
  constexpr int64_t kSmall = 1 << 18;  // elements of C
  if (InTiles<Cells> && HoldsBFloat16<Cells> && product.rows * product.columns <= kSmall) {
    return kDepthBlock / 4 * Cells::kDepth;
  }
  return block_depth<Cells>();
}

// All panels of B [depth, columns].
template <class Cells>
void pack_right(const StoredOperand& b, int64_t depth, int64_t columns, float* panels) {
  with_elements_of<Cells>(b, [&](const auto* from) HWY_ATTR {
    if (!b.transposed) {
      return pack_panels<Cells>(from, b.stride, depth, columns, panels);
    }
    for (int64_t j = 0; j < columns; j += kPanelColumns) {
      pack_panel_transposed<Cells>(from + j * b.stride, b.stride, depth, std::min(columns - j, kPanelColumns),
                                   panels + j * cells_of<Cells>(depth));
    }
  });
}

// Rows of a stored operand, to be prefetched within this number of steps.
RowsAhead rows_ahead(const StoredOperand& first, int64_t rows, int64_t columns, int64_t steps) {
  const auto bytes = static_cast<int64_t>(first.is_float() ? sizeof(float) : sizeof(BFloat16));
  RowsAhead ahead(first.data, rows, first.stride * bytes, columns * bytes);
  ahead.spread(steps);
  return ahead;
}

// What the block of the depth that begins at `begin` takes of A and B where both are stored with a row for each k, as
// for the gradient of a weight; nothing where C and the packed copies leave it no room in the second-level cache.
template <class Cells>
std::array<RowsAhead, 2> block_ahead(const GemmArguments& product, int64_t begin, int64_t depth, int64_t steps) {
  constexpr int64_t kSmall = 1 << 16;  // elements of C
  const bool by_depth = product.a.transposed && !product.b.transposed;
  if (!InTiles<Cells> || depth <= 0 || !by_depth || product.rows * product.columns > kSmall) {
    return {};
  }
  return {rows_ahead(product.a.at(0, begin), depth, product.rows, steps),
          rows_ahead(product.b.at(begin, 0), depth, product.columns, steps)};
}

template <class Cells>
void run_blocks(const GemmArguments& product, bool accumulate) {
  const int64_t most = depth_of_block<Cells>(product);
  const int64_t widest = (std::min(product.columns, kColumnBlock) + kLanes - 1) / kLanes * kLanes;
  tensor::Tensor panels = tensor::Tensor::empty({widest * cells_of<Cells>(std::min(product.depth, most))});
  LeftScratch<Cells> scratch(product.a.transposed, product.rows, product.depth);
  const auto left_at = [&](int64_t row, int64_t begin) {
    return LeftBlock{product.a.at(row, begin), rows_of_block<Cells>(product.rows - row),
                     std::min(product.depth - begin, most)};
  };
  for (int64_t column = 0; column < product.columns; column += kColumnBlock) {
    const int64_t columns = std::min(product.columns - column, kColumnBlock);
    for (int64_t begin = 0, end = 0; begin < product.depth; begin = end) {
      const int64_t depth = std::min(product.depth - begin, most);
      end = begin + depth;
      // After the last rows.
      const LeftBlock first_left = end < product.depth                  ? left_at(0, end)
                                   : column + columns < product.columns ? left_at(0, 0)
                                                                        : LeftBlock();
      pack_right<Cells>(product.b.at(begin, column), depth, columns, panels.data<float>());
      RightPanels right{panels.data<float>(), cells_of<Cells>(depth), 0};
      std::array<RowsAhead, 2> ahead = block_ahead<Cells>(product, end, std::min(product.depth - end, most),
                                                          tile_steps<Cells>(product.rows, columns, right.cells));
      for (int64_t row = 0, next_row = 0; row < product.rows; row = next_row) {
        const LeftBlock left = left_at(row, begin);
        next_row = row + left.rows;
        const bool last = next_row == product.rows;
        const Result result{product.c + row * product.c_stride + column, product.c_stride, columns,
                            begin == 0 && product.bias != nullptr ? product.bias + column : nullptr,
                            accumulate || begin > 0};
        right.after = last ? NextPanel() : right.first_panel(columns);
        multiply_block<Cells>(left, right, result, scratch, last ? first_left : left_at(next_row, begin), ahead);
      }
    }
  }
}

void run_gemm(const GemmArguments& product, bool accumulate) {
  with_cells_of(product.kernel, [&](auto cells) HWY_ATTR { run_blocks<decltype(cells)>(product, accumulate); });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace dragoman::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dragoman::kernels {

HWY_EXPORT(run_gemm);

void gemm_kernel(const GemmArguments& product) {
  DRAGOMAN_DISPATCH(run_gemm)(product, false);
}

void gemm_kernel_accumulate(const GemmArguments& product) {
  DRAGOMAN_DISPATCH(run_gemm)(product, true);
}

}  // namespace dragoman::kernels
#endif
