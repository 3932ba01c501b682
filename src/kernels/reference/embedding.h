#pragma once

#include <cstdint>

namespace dragoman::kernels::reference {

// The definition of the row operations in kernels/cpu/rows/embedding_cpu.h, in plain float64 loops.

/// Computes to[0 .. width) = scale * from[0 .. width).
void scaled_row(const double* from, double scale, int64_t width, double* to);
/// Computes to[0 .. width) += scale * from[0 .. width).
void scaled_row_accumulate(const double* from, double scale, int64_t width, double* to);

}  // namespace dragoman::kernels::reference
