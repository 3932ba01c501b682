#pragma once

#include <span>

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

/// Returns: element `column` of  x panels + bias  for one row x, with the bits of multiply_panels. float32 only.
/// @param bias  null for none
float multiply_panel_column(const PanelStorage& panels, ProductKernel kernel, PackedSize size, const float* x,
                            const float* bias, int64_t column);

/// The rows of the packed matrix that are multiplied.
struct PanelRows {
  int64_t first = 0;  ///< a multiple of kPartColumns
  int64_t all = 0;    ///< number of rows of the packed matrix; 0 if x has a column for each
};

/// Describes y = activation(x panels + bias), or y += x panels. Requires: y is not empty.
struct PanelProduct {
  const Tensor& x;
  const PanelStorage& panels;
  ProductKernel kernel;
  const PackedEpilogue& epilogue;
  bool accumulate;
  PanelRows rows = {};
  int64_t first_column = 0;  ///< column of the packed matrix for column 0 of y; the first column of a panel
};
void multiply_panels(const PanelProduct& product, Tensor& y);
/// Computes several products of the same x with the same kernel.
void multiply_panels_of_each(std::span<const PanelProduct> products, std::span<Tensor> results);
/// Computes a product of `columns` columns in parts; see PackedMatrix::multiply_in_parts.
void multiply_panels_in_parts(const PanelProduct& product, int64_t columns, const TakePart& take);

}  // namespace dragoman::kernels
