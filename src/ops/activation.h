#pragma once

#include "ops/dropout.h"
#include "ops/types.h"

namespace dragoman::ops {

/// Applies a nonlinearity to each element.
/// @param x  [N, D] float32, float64 or bfloat16; bfloat16 is computed in float32; rows may be strided
/// @return [N, D]; x itself for kNone. NaN stays NaN.   float32: within 2e-7 max(1, |x|) of the formula.
/// Saves for backward: y for kRelu, otherwise x (shared, not copied).   Gradients: x; the slope of ReLU at 0 is 0.
Variable activation(const Variable& x, Activation activation);

/// Computes dropout(activation(x)) in one pass. The result equals the composition bit for bit.
/// Saves for backward: what `activation` saves.
/// Throws: Error, "activation_dropout: probability is 1.5, must be in [0, 1)".
Variable activation_dropout(const Variable& x, Activation activation, const Dropout& dropout);

}  // namespace dragoman::ops
