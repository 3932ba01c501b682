#pragma once

#include "ops/types.h"

namespace dragoman::ops {

/// Computes a running mean of the rows of each sentence, element by element:
///   y_t = keep_t * y_{t-1} + (1 - keep_t) * x_t
/// @param x  [N, D] float32 or float64;  @param keep  [N, D], each in [0, 1]
/// @param offsets  [B + 1] int32, from 0 to N;  @param initial  [B, D], y before the first row; undefined is zero
/// @return [N, D]. A row depends on the rows before it alone, and steps give the bits of one call.
/// Saves for backward: x, keep and the result.   Gradients: x, keep.
/// Throws: Error, "scan: keep is [3, 4], must be [3, 5]".
/// It is what an SSRU and average attention compute between two products (nn::Ssru, nn::AverageAttention).
/// Source: Kim et al. 2019, "From Research to Production and Back", section 3.1 (SSRU), without its ReLU.
Variable scan(const Variable& x, const Variable& keep, const Tensor& offsets, const Tensor& initial = {});

}  // namespace dragoman::ops
