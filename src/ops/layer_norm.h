#pragma once

#include "ops/types.h"

namespace dragoman::ops {

/// Normalises each row to mean 0 and variance 1, then scales and shifts each column:
///   y = (x - mean(x)) / sqrt(var(x) + epsilon) * gain + bias,  var = mean((x - mean(x))^2), not with D - 1
/// @param x  [N, D];  @param gain, bias  [D].  float32 or float64, all alike; rows of x may be strided
///   An undefined bias adds nothing.
/// @return y [N, D]. A row of y depends on that row of x alone, bit for bit.
/// Saves for backward: x (shared), and mean and rstd = 1 / sqrt(var + epsilon) of each row (8*N bytes).
/// Gradients: x, gain, bias.
/// Throws: Error: "layer_norm: gain is [3], must be [4]", "layer_norm: epsilon is -1, must be >= 0".
/// Source: Ba et al. 2016, eq. (3) and (4); epsilon inside the root as in every common implementation.
Variable layer_norm(const Variable& x, const Variable& gain, const Variable& bias, float epsilon);

/// Divides each row by its root mean square and scales each column:  y = x / sqrt(mean(x^2) + epsilon) * gain
/// Arguments, result and errors are those of `layer_norm` without a bias.
/// Saves for backward: x (shared), and 1 / sqrt(mean(x^2) + epsilon) of each row (8*N bytes).   Gradients: x, gain.
/// Source: Zhang and Sennrich 2019, eq. (4); epsilon inside the root as in every common implementation.
Variable rms_norm(const Variable& x, const Variable& gain, float epsilon);

/// Computes rms_norm of each head: the D columns of a row are H parts of Dh columns, which are rows of their own.
/// @param x  [N, H*Dh] float32, float64 or bfloat16; rows may be strided. bfloat16 is computed in float32
/// @param gain  [Dh], float32 beside bfloat16
/// @return [N, H*Dh] of the type of x
/// Saves for backward: x, copied if it is strided or bfloat16, and 8*N*H bytes.   Gradients: x, gain.
/// Throws: Error: "head_rms_norm: x has width 10, must be a multiple of the width of gain, 4".
/// Source: Henry et al. 2020, "Query-Key Normalization for Transformers"; with rms_norm in place of the l2 norm.
Variable head_rms_norm(const Variable& x, const Variable& gain, float epsilon);

}  // namespace dragoman::ops
