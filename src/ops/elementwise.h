#pragma once

#include "ops/types.h"

namespace dragoman::ops {

// Elementwise ops on float32 or float64. Operands have the same shape, or one operand is a single element ([1] or
// scalar) that is broadcast. The gradient of a broadcast operand is the sum over all elements. Requires: contiguous
// inputs. Throws: Error, "add: left is [2, 3], right is [3, 2]; shapes must be equal or one side a single element".

Variable add(const Variable& left, const Variable& right);
Variable subtract(const Variable& left, const Variable& right);
Variable multiply(const Variable& left, const Variable& right);

/// Computes x * factor for a constant factor.
Variable scale(const Variable& x, double factor);
/// Computes x * x.
Variable square(const Variable& x);
/// Computes e to the power x. Saves for backward: the result.
Variable exp(const Variable& x);

/// Returns: `x` itself, or in float32 if it is bfloat16, as products are that were asked to round; its gradient is then
/// rounded.
[[nodiscard]] Variable widened(const Variable& x);

/// Computes the sum of all elements as a scalar, added in float64, in order. No elements give 0.
Variable sum(const Variable& x);
/// Computes sum(x) / number of elements. Throws: Error for no elements, "mean: x is [0], must have elements".
Variable mean(const Variable& x);

}  // namespace dragoman::ops
