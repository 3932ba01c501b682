#include "ops/packed_matrix_cpu.h"

#include "ops/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/packed_matrix_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "ops/activation-inl.h"
#include "ops/gemm_blocks-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman::ops {
namespace HWY_NAMESPACE {
namespace {

int64_t columns_of_panel() {
  return kPanelColumns;
}

int64_t cells_of_panels(int64_t depth, int64_t columns, ProductKernel kernel) {
  int64_t cells = 0;
  with_packed_cells_of(kernel, [&](auto format) HWY_ATTR { cells = cells_of<decltype(format)>(depth); });
  return (columns + kLanes - 1) / kLanes * kLanes * cells;
}

// A panel of int8 from W [depth, columns], or from W^T by way of float32 columns side by side.
template <class Cells>
void pack_int8_panel(const float* weight, int64_t stride, bool transposed, int64_t depth, int64_t columns, float* to,
                     const Int8Columns& made) {
  const int64_t width = panel_width(columns);
  Tensor turned = transposed ? Tensor::empty({depth, kLanes}) : Tensor();
  for (int64_t j = 0; j < columns; j += kLanes) {
    const int64_t count = std::min(columns - j, kLanes);
    if (transposed) {
      transpose_rows(weight + j * stride, stride, count, depth, kLanes, turned.data<float>());
    }
    pack_int8_columns<Cells>(transposed ? turned.data<float>() : weight + j, transposed ? kLanes : stride, depth, count,
                             width, to + j, {made.scales + j, made.sums + j});
  }
}

template <class Cells>
void pack(const Tensor& weight, bool transposed, PanelRange range, PanelStorage& panels) {
  float* cells = panels.cells.data<float>();
  const int64_t depth = weight.dim(transposed ? 1 : 0), columns = weight.dim(transposed ? 0 : 1);
  const int64_t stride = weight.stride(0);
  for (int64_t panel = range.begin; panel < range.end; ++panel) {
    const int64_t column = panel * kPanelColumns;
    const int64_t count = std::min(columns - column, kPanelColumns);
    float* to = cells + column * cells_of<Cells>(depth);
    if constexpr (IsInt8<Cells>) {
      pack_int8_panel<Cells>(weight.data<float>() + column * (transposed ? stride : 1), stride, transposed, depth,
                             count, to, {panels.scales.data<float>() + column, panels.sums.data<int32_t>() + column});
    } else if (transposed) {
      pack_panel_transposed<Cells>(weight.data<float>() + column * stride, stride, depth, count, to);
    } else {
      pack_panel<Cells>(weight.data<float>() + column, stride, depth, count, to);
    }
  }
}

void pack_weight(const Tensor& weight, bool transposed, ProductKernel kernel, PanelRange range, PanelStorage& panels) {
  with_packed_cells_of(kernel,
                       [&](auto format) HWY_ATTR { pack<decltype(format)>(weight, transposed, range, panels); });
}

template <class Cells>
void multiply_rows(const PanelProduct& product, int64_t row, int64_t rows, LeftScratch<Cells>& scratch, Tensor& y) {
  const int64_t depth = product.x.dim(1), columns = y.dim(1);
  const LeftOperand left{product.x.data<float>(), product.x.stride(0), false};
  const float* bias = product.epilogue.bias.defined() ? product.epilogue.bias.data<float>() : nullptr;
  const PanelStorage& panels = product.panels;
  RightPanels right{panels.cells.data<float>(), cells_of<Cells>(depth), 0};
  if constexpr (IsInt8<Cells>) {
    right.column_scales = panels.scales.data<float>();
    right.column_sums = panels.sums.data<int32_t>();
  }
  scratch.measure(left.at(row, 0), rows, depth);
  int64_t begin = 0;
  do {  // at least once: no depth yields the bias
    const int64_t part = std::min(depth - begin, block_depth<Cells>());
    right.first = begin / Cells::kDepth;
    multiply_block<Cells>(left.at(row, begin), rows, part, right,
                          {y.data<float>() + row * y.stride(0), y.stride(0), columns,
                           begin + part == depth ? bias : nullptr, product.accumulate || begin > 0},
                          scratch);
    begin += part;
  } while (begin < depth);
}

template <class Cells>
void multiply(const PanelProduct& product, Tensor& y) {
  LeftScratch<Cells> scratch(false, product.x.dim(0), product.x.dim(1));
  const Activation activation = product.epilogue.activation;
  for (int64_t row = 0; row < y.dim(0); row += kRowBlock) {
    const int64_t end = std::min(row + kRowBlock, y.dim(0));
    multiply_rows<Cells>(product, row, end - row, scratch, y);
    for (int64_t r = row; activation != Activation::kNone && r < end; ++r) {
      float* values = y.data<float>() + r * y.stride(0);
      activate_row(values, y.dim(1), activation, values);
    }
  }
}

void multiply_weight(const PanelProduct& product, Tensor& y) {
  with_packed_cells_of(product.kernel, [&](auto cells) HWY_ATTR { multiply<decltype(cells)>(product, y); });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace dragoman::ops
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dragoman::ops {

HWY_EXPORT(columns_of_panel);
HWY_EXPORT(cells_of_panels);
HWY_EXPORT(pack_weight);
HWY_EXPORT(multiply_weight);

int64_t panel_columns() {
  return DRAGOMAN_DISPATCH(columns_of_panel)();
}

int64_t panel_cells(int64_t depth, int64_t columns, ProductKernel kernel) {
  return DRAGOMAN_DISPATCH(cells_of_panels)(depth, columns, kernel);
}

void pack_panels(const Tensor& weight, Transpose transpose, ProductKernel kernel, PanelRange range,
                 PanelStorage& panels) {
  DRAGOMAN_DISPATCH(pack_weight)(weight, transpose == Transpose::kYes, kernel, range, panels);
}

void multiply_panels(const PanelProduct& product, Tensor& y) {
  DRAGOMAN_DISPATCH(multiply_weight)(product, y);
}

}  // namespace dragoman::ops
#endif
