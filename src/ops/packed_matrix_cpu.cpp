#include "ops/packed_matrix_cpu.h"

#include "ops/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/packed_matrix_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "ops/activation-inl.h"
#include "ops/gemm_kernel-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman::ops {
namespace HWY_NAMESPACE {
namespace {

int64_t panel_floats(int64_t depth, int64_t columns) {
  return (columns + kLanes - 1) / kLanes * kLanes * depth;
}

void pack_weight(const Tensor& weight, Transpose transpose, Tensor& panels) {
  const bool transposed = transpose == Transpose::kYes;
  const int64_t depth = weight.dim(transposed ? 1 : 0), columns = weight.dim(transposed ? 0 : 1);
  const float* from = weight.data<float>();
  for (int64_t column = 0; column < columns; column += kPanelColumns) {
    const int64_t count = std::min(columns - column, kPanelColumns);
    float* panel = panels.data<float>() + column * depth;
    if (transposed) {
      pack_panel_transposed(from + column * weight.stride(0), weight.stride(0), depth, count, panel);
    } else {
      pack_panel(from + column, weight.stride(0), depth, count, panel);
    }
  }
}

struct Rows {
  const float* x;
  int64_t x_stride;
  float* y;
  int64_t y_stride;
  int64_t count;
};

// A block of rows times one panel, and what follows while the result is in cache.
void multiply_rows(const Rows& rows, const float* panel, int64_t depth, int64_t columns, const float* bias,
                   Activation activation) {
  const int64_t width = panel_width(columns);
  int64_t begin = 0;
  do {  // at least once: no depth yields the bias
    const int64_t end = std::min(begin + kDepthBlock, depth);
    multiply_panel({rows.x + begin, rows.x_stride, 1, panel + begin * width, end - begin, rows.y, rows.y_stride,
                    columns, end == depth ? bias : nullptr, begin > 0},
                   rows.count, width);
    begin = end;
  } while (begin < depth);
  if (activation != Activation::kNone) {
    for (int64_t row = 0; row < rows.count; ++row) {
      activate_row(rows.y + row * rows.y_stride, columns, activation, rows.y + row * rows.y_stride);
    }
  }
}

void multiply_weight(const Tensor& x, const Tensor& panels, const PackedEpilogue& epilogue, Tensor& y) {
  constexpr int64_t kRowBlock = 128 / kTileRows * kTileRows;  // of x, kept in the second-level cache
  const int64_t depth = x.dim(1), columns = y.dim(1);
  const float* bias = epilogue.bias.defined() ? epilogue.bias.data<float>() : nullptr;
  for (int64_t row = 0; row < x.dim(0); row += kRowBlock) {
    for (int64_t column = 0; column < columns; column += kPanelColumns) {
      const Rows rows{x.data<float>() + row * x.stride(0), x.stride(0), y.data<float>() + row * y.stride(0) + column,
                      y.stride(0), std::min(x.dim(0) - row, kRowBlock)};
      multiply_rows(rows, panels.data<float>() + column * depth, depth, std::min(columns - column, kPanelColumns),
                    bias == nullptr ? nullptr : bias + column, epilogue.activation);
    }
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace dragoman::ops
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dragoman::ops {

HWY_EXPORT(panel_floats);
HWY_EXPORT(pack_weight);
HWY_EXPORT(multiply_weight);

int64_t packed_panel_floats(int64_t depth, int64_t columns) {
  return DRAGOMAN_DISPATCH(panel_floats)(depth, columns);
}

void pack_panels(const Tensor& weight, Transpose transpose, Tensor& panels) {
  DRAGOMAN_DISPATCH(pack_weight)(weight, transpose, panels);
}

void multiply_panels(const Tensor& x, const Tensor& panels, const PackedEpilogue& epilogue, Tensor& y) {
  DRAGOMAN_DISPATCH(multiply_weight)(x, panels, epilogue, y);
}

}  // namespace dragoman::ops
#endif
