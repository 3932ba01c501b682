#pragma once

#include "kernels/cpu/gemm/panel_storage.h"
#include "kernels/int8_weight.h"
#include "kernels/product_kernel.h"
#include "kernels/transpose.h"

namespace dragoman::kernels {

/// Returns: the number of columns of a panel.
int64_t panel_columns();
/// Returns: the number of cells, of 32 bits each, in the panels of a [depth, columns] matrix.
int64_t panel_cells(int64_t depth, int64_t columns, ProductKernel kernel);

/// The panels [begin, end) of a matrix.
struct PanelRange {
  int64_t begin, end;
};

/// Packs panels of op(weight) [depth, columns] one after the other, each row-major. For int8 this also sets their
/// scales and starts.
void pack_panels(const Tensor& weight, Transpose transpose, ProductKernel kernel, PanelRange range,
                 PanelStorage& panels);

/// Packs panels of a weight that is already quantized.
void pack_quantised_panels(const QuantisedWeight& weight, Transpose transpose, ProductKernel kernel, PanelRange range,
                           PanelStorage& panels);

struct PackedSize {
  int64_t depth, columns;
};

/// Packs all panels of a [depth, columns] matrix that is packed in float32.
void pack_rounded_panels(const PanelStorage& from, PackedSize size, ProductKernel kernel, PanelStorage& panels);

/// Writes column `column` of a packed [depth, columns] matrix into `depth` floats.
void unpack_panel_column(const PanelStorage& panels, ProductKernel kernel, PackedSize size, int64_t column, float* to);

}  // namespace dragoman::kernels
