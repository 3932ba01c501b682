#include "kernels/cpu/gemm/pack_panels_cpu.h"

#include "kernels/cpu/simd/simd.h"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/gemm/pack_panels_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/cpu/gemm/gemm_pack-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman::kernels {
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
  Tensor untransposed = transposed ? Tensor::empty({depth, kLanes}) : Tensor();
  for (int64_t j = 0; j < columns; j += kLanes) {
    const int64_t count = std::min(columns - j, kLanes);
    if (transposed) {
      transpose_rows(weight + j * stride, stride, count, depth, kLanes, untransposed.data<float>());
    }
    pack_int8_columns<Cells>(transposed ? untransposed.data<float>() : weight + j, transposed ? kLanes : stride, depth,
                             count, width, to + j, {made.scales + j, made.starts + j});
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
                             count, to, {panels.scales.data<float>() + column, panels.starts.data<int32_t>() + column});
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

// Four neighbours in k, those beyond the depth 0, as one cell.
HWY_INLINE float joined_values(const int8_t* values, int64_t distance, int64_t left) {
  int8_t four[4] = {0, 0, 0, 0};
  for (int64_t i = 0; i < std::min<int64_t>(left, 4); ++i) {
    four[i] = values[i * distance];
  }
  float cell = 0;
  std::memcpy(&cell, four, sizeof cell);
  return cell;
}

// A panel of int8 from values of which (k, j) is values[k * along + j * across].
template <class Cells>
void pack_values_panel(const int8_t* values, int64_t along, int64_t across, const float* scales, int64_t depth,
                       int64_t columns, float* to, const Int8Columns& made) {
  const int64_t width = panel_width(columns), cells = cells_of<Cells>(depth);
  for (int64_t j = 0; j < width; ++j) {
    int32_t sum = 0;
    for (int64_t k = 0; j < columns && k < depth; ++k) {
      sum += values[k * along + j * across];
    }
    made.starts[j] = -Cells::kOffset * sum;
    made.scales[j] = j < columns ? scales[j] : 0.0F;
    for (int64_t cell = 0; cell < cells; ++cell) {
      const int64_t k = cell * Cells::kDepth;
      to[cell * width + j] =
          j < columns && k < depth ? joined_values(values + k * along + j * across, along, depth - k) : 0.0F;
    }
  }
}

template <class Cells>
void pack_values(const QuantisedWeight& weight, bool transposed, PanelRange range, PanelStorage& panels) {
  if constexpr (IsInt8<Cells>) {
    const int64_t depth = weight.values.dim(transposed ? 1 : 0), columns = weight.values.dim(transposed ? 0 : 1);
    const int64_t stride = weight.values.stride(0), along = transposed ? 1 : stride, across = transposed ? stride : 1;
    for (int64_t panel = range.begin; panel < range.end; ++panel) {
      const int64_t column = panel * kPanelColumns;
      pack_values_panel<Cells>(weight.values.data<int8_t>() + column * across, along, across,
                               weight.scales.data<float>() + column, depth, std::min(columns - column, kPanelColumns),
                               panels.cells.data<float>() + column * cells_of<Cells>(depth),
                               {panels.scales.data<float>() + column, panels.starts.data<int32_t>() + column});
    }
  }
}

void pack_quantised(const QuantisedWeight& weight, bool transposed, ProductKernel kernel, PanelRange range,
                    PanelStorage& panels) {
  with_packed_cells_of(kernel,
                       [&](auto format) HWY_ATTR { pack_values<decltype(format)>(weight, transposed, range, panels); });
}

// Panels of float32 are row-major, as a weight is.
template <class Cells>
void pack_rounded(const PanelStorage& from, PackedSize size, PanelStorage& panels) {
  if constexpr (IsInt8<Cells>) {
    for (int64_t column = 0; column < size.columns; column += kPanelColumns) {
      const int64_t count = std::min(size.columns - column, kPanelColumns);
      pack_int8_panel<Cells>(from.cells.data<float>() + column * size.depth, panel_width(count), false, size.depth,
                             count, panels.cells.data<float>() + column * cells_of<Cells>(size.depth),
                             {panels.scales.data<float>() + column, panels.starts.data<int32_t>() + column});
    }
  }
}

void pack_rounded_weight(const PanelStorage& from, PackedSize size, ProductKernel kernel, PanelStorage& panels) {
  with_packed_cells_of(kernel, [&](auto format) HWY_ATTR { pack_rounded<decltype(format)>(from, size, panels); });
}

template <class Cells>
void unpack(const PanelStorage& panels, PackedSize size, int64_t column, float* to) {
  const int64_t first = column / kPanelColumns * kPanelColumns;
  const int64_t width = panel_width(size.columns - first);
  const float* cell = panels.cells.data<float>() + first * cells_of<Cells>(size.depth) + column - first;
  for (int64_t k = 0; k < size.depth; k += Cells::kDepth, cell += width) {
    const int64_t count = std::min<int64_t>(size.depth - k, Cells::kDepth);
    if constexpr (IsInt8<Cells>) {
      int8_t values[4];
      std::memcpy(values, cell, sizeof values);
      for (int64_t i = 0; i < count; ++i) {
        to[k + i] = static_cast<float>(values[i]) * panels.scales.data<float>()[column];
      }
    } else if constexpr (Cells::kDepth == 2) {
      uint16_t bits[2];
      std::memcpy(bits, cell, sizeof bits);
      for (int64_t i = 0; i < count; ++i) {
        to[k + i] = tensor::to_float({bits[i]});
      }
    } else {
      to[k] = *cell;
    }
  }
}

void unpack_column_of(const PanelStorage& panels, ProductKernel kernel, PackedSize size, int64_t column, float* to) {
  with_packed_cells_of(kernel, [&](auto format) HWY_ATTR { unpack<decltype(format)>(panels, size, column, to); });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace dragoman::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dragoman::kernels {

HWY_EXPORT(columns_of_panel);
HWY_EXPORT(cells_of_panels);
HWY_EXPORT(pack_weight);
HWY_EXPORT(pack_quantised);
HWY_EXPORT(pack_rounded_weight);
HWY_EXPORT(unpack_column_of);

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

void pack_quantised_panels(const QuantisedWeight& weight, Transpose transpose, ProductKernel kernel, PanelRange range,
                           PanelStorage& panels) {
  DRAGOMAN_DISPATCH(pack_quantised)(weight, transpose == Transpose::kYes, kernel, range, panels);
}

void pack_rounded_panels(const PanelStorage& from, PackedSize size, ProductKernel kernel, PanelStorage& panels) {
  DRAGOMAN_DISPATCH(pack_rounded_weight)(from, size, kernel, panels);
}

void unpack_panel_column(const PanelStorage& panels, ProductKernel kernel, PackedSize size, int64_t column, float* to) {
  DRAGOMAN_DISPATCH(unpack_column_of)(panels, kernel, size, column, to);
}

}  // namespace dragoman::kernels
#endif
