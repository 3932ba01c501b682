#pragma once

#include "ops/types.h"

namespace dragoman::ops {

/// Puts two matrices side by side:  y = [left, right].
/// @param left  [N, A];  @param right  [N, B], of one type; rows may be strided
/// @return [N, A + B].   Saves nothing for backward.   Gradients: both.
/// Throws: Error, "concatenate_columns: right is [3, 2], must be [4, 2]".
Variable concatenate_columns(const Variable& left, const Variable& right);

/// Fills up each head with columns of zeros, which change no product of two heads:  y_h = [x_h, 0].
/// @param x  [N, H * Dk], heads side by side; rows may be strided;  @param n_heads  H
/// @param width  Dh >= Dk, of a head of y
/// @return [N, H * Dh]; x itself if Dh = Dk.   Saves nothing for backward.   Gradient: x.
/// Throws: Error, "widen_heads: x has 10 columns, must have as many for each of 4 heads, at most 2".
Variable widen_heads(const Variable& x, int64_t n_heads, int64_t width);

}  // namespace dragoman::ops
