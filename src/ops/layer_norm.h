#pragma once

#include "ops/types.h"

namespace dragoman::ops {

/// Normalises each row to mean 0 and variance 1, then scales and shifts each column:
///   y = (x - mean(x)) / sqrt(var(x) + epsilon) * gain + bias,  var = mean((x - mean(x))^2), not with D - 1
/// @param x  [N, D];  @param gain, bias  [D].  float32 or float64, all alike; rows of x may be strided
/// @return y [N, D]. A row of y depends on that row of x alone, bit for bit.
/// Saves for backward: x (shared), and mean and rstd = 1 / sqrt(var + epsilon) of each row (8*N bytes).
/// Gradients: x, gain, bias.
/// Throws: Error: "layer_norm: gain is [3], must be [4]", "layer_norm: epsilon is -1, must be >= 0".
/// Source: Ba et al. 2016, eq. (3) and (4); epsilon inside the root as in every common implementation.
Variable layer_norm(const Variable& x, const Variable& gain, const Variable& bias, float epsilon);

}  // namespace dragoman::ops
