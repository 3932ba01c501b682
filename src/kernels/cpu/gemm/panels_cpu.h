#pragma once

#include <span>

#include "kernels/cpu/gemm/pack_panels_cpu.h"
#include "kernels/cpu/gemm/panel_storage.h"
#include "kernels/product_kernel.h"

namespace dragoman::kernels {

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
