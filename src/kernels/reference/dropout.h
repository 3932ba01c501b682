#pragma once

#include "kernels/dropout.h"
#include "kernels/types.h"

namespace dragoman::kernels::reference {

/// Returns: the factor of element (row, column), 0 or the scale of kept values. This is the definition of the mask.
double dropout_factor(const Dropout& dropout, int64_t row, int64_t column);

/// Computes y = x * factors.  @param x, y  [N, D] float64
void dropout_rows(const Tensor& x, const Dropout& dropout, Tensor& y);

}  // namespace dragoman::kernels::reference
