#pragma once

#include "ops/types.h"

namespace dragoman::ops {

/// Gives the elements another shape of equal size; the result shares the memory of x.
/// @param x  of any shape and dtype, contiguous
/// Saves for backward: the shape of x.   Gradient: x.
/// Throws: Error, "reshape: x is [2, 3], has 6 elements, [4] has 4; sizes must be equal".
Variable reshape(const Variable& x, const tensor::Shape& shape);

}  // namespace dragoman::ops
