#pragma once

#include "ops/types.h"

namespace dragoman::ops {

/// Puts the rows around each row of ragged sentences side by side:  y[n] = [x[n - before], .., x[n], .., x[n + after]].
/// Rows past an end of the sentence are 0. With `linear` behind it this is a convolution of width
/// K = before + 1 + after, whose weight [K*D, E] has the rows of the earliest neighbour first.
/// @param x  [N, D] float32 or float64;  @param offsets  [B + 1] int32, from 0 to N
/// @return [N, K*D].   Saves for backward: the offsets.   Gradient: x; the parts are added in the order of the blocks.
/// Throws: Error, "neighbours: before is -1, after is 0; must be >= 0", and as checked_offsets does.
/// Source: Gehring et al. 2017, "Convolutional Sequence to Sequence Learning", section 3.2.
Variable neighbours(const Variable& x, const Tensor& offsets, int64_t before, int64_t after);

}  // namespace dragoman::ops
