#pragma once

#include <span>

#include "kernels/cpu/gemm/panel_storage.h"
#include "kernels/product_kernel.h"
#include "kernels/transpose.h"

namespace dragoman::kernels {

/// Columns of a panel, and cells of 32 bits that the panels of a [depth, columns] matrix take.
int64_t panel_columns();
int64_t panel_cells(int64_t depth, int64_t columns, ProductKernel kernel);

/// Packs panels [begin, end) of op(weight) [depth, columns]: one after the other, each row-major. int8 also sets their
/// scales and starts.
struct PanelRange {
  int64_t begin, end;
};
void pack_panels(const Tensor& weight, Transpose transpose, ProductKernel kernel, PanelRange range,
                 PanelStorage& panels);

/// The same from a weight that is int8 already.
void pack_quantised_panels(const QuantisedWeight& weight, Transpose transpose, ProductKernel kernel, PanelRange range,
                           PanelStorage& panels);

struct PackedSize {
  int64_t depth, columns;
};

/// The same from a [depth, columns] matrix that is packed in float32; all panels.
void pack_rounded_panels(const PanelStorage& from, PackedSize size, ProductKernel kernel, PanelStorage& panels);

/// Column `column` of a packed [depth, columns] matrix, `depth` floats.
void unpack_panel_column(const PanelStorage& panels, ProductKernel kernel, PackedSize size, int64_t column, float* to);

/// Element `column` of  x panels + bias  for one row x, float32 alone; the bits of multiply_panels.
/// @param bias  null for none
float multiply_panel_column(const PanelStorage& panels, ProductKernel kernel, PackedSize size, const float* x,
                            const float* bias, int64_t column);

/// Which rows of the packed matrix are multiplied.
struct PanelRows {
  int64_t first = 0;  ///< a multiple of kPartColumns
  int64_t all = 0;    ///< of the packed matrix; 0 where x has a column for each
};

/// y = activation(x panels + bias), or y += x panels; y is not empty.
struct PanelProduct {
  const Tensor& x;
  const PanelStorage& panels;
  ProductKernel kernel;
  const PackedEpilogue& epilogue;
  bool accumulate;
  PanelRows rows = {};
  int64_t first_column = 0;  ///< of the packed matrix, for column 0 of y: the first of a panel
};
void multiply_panels(const PanelProduct& product, Tensor& y);
/// Several products of the same x with the same kernel.
void multiply_panels_of_each(std::span<const PanelProduct> products, std::span<Tensor> results);
/// The same, `columns` columns in all, in parts (PackedMatrix::multiply_in_parts).
void multiply_panels_in_parts(const PanelProduct& product, int64_t columns, const TakePart& take);

}  // namespace dragoman::kernels
