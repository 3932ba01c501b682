#pragma once

#include "ops/types.h"

namespace dragoman::ops {

// Element by element, float32 or float64. Operands have the same shape, or one of them is a single element ([1] or
// scalar) that is used everywhere; its gradient is the sum over all elements. Inputs must be contiguous.
// Throws Error: "add: left is [2, 3], right is [3, 2]; shapes must be equal or one side a single element".

Variable add(const Variable& left, const Variable& right);
Variable subtract(const Variable& left, const Variable& right);
Variable multiply(const Variable& left, const Variable& right);

/// x * factor, the factor being a constant.
Variable scale(const Variable& x, double factor);
/// x * x.
Variable square(const Variable& x);
/// e to the power x. Saves for backward: the result.
Variable exp(const Variable& x);

/// Sum of all elements as a scalar; added up in double, in order. No elements give 0.
Variable sum(const Variable& x);
/// sum(x) / number of elements. Throws Error for no elements.
Variable mean(const Variable& x);

}  // namespace dragoman::ops
