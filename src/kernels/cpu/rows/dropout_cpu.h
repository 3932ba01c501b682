#pragma once

#include "kernels/dropout.h"
#include "kernels/types.h"

namespace dragoman::kernels {

/// Writes the factors of one row: scales[c] is 0 for a dropped element, otherwise the scale of kept values.
void dropout_row_scales(const Dropout& dropout, int64_t row, int64_t columns, float* scales);

/// Computes y = x * scales, row by row.  @param x, y  [N, D] float32, may be strided; y may be x, or be bfloat16.
void dropout_rows(const Tensor& x, const Dropout& dropout, Tensor& y);

}  // namespace dragoman::kernels
