#pragma once

#include <cstdint>

namespace dragoman::kernels {

/// Computes to[0 .. width) = scale * from[0 .. width).
void scaled_row(const float* from, float scale, int64_t width, float* to);
/// Computes to[0 .. width) += scale * from[0 .. width).
void scaled_row_accumulate(const float* from, float scale, int64_t width, float* to);

}  // namespace dragoman::kernels
