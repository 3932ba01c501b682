#pragma once

#include "ops/packed_matrix.h"

namespace dragoman::ops {

/// Floats that the panels of a [depth, columns] matrix take.
int64_t packed_panel_floats(int64_t depth, int64_t columns);

/// Packs op(weight) [depth, columns] into panels: column panels one after the other, each row-major.
void pack_panels(const Tensor& weight, Transpose transpose, Tensor& panels);

/// y = activation(x panels + bias); y is not empty.
void multiply_panels(const Tensor& x, const Tensor& panels, const PackedEpilogue& epilogue, Tensor& y);

}  // namespace dragoman::ops
