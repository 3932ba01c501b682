#pragma once

#include <cstdint>

#include "ops/types.h"

namespace dragoman::ops {

/// Sets random elements to 0 and scales the others so that the expected value stays.
/// @param x  [N, D] float32 or float64; rows may be strided
/// @return [N, D]; x itself when the probability is 0.   Saves nothing for backward.   Gradients: x.
/// Throws: Error, "dropout: probability is 1.5, must be in [0, 1)".
Variable dropout(const Variable& x, const Dropout& dropout);

}  // namespace dragoman::ops
