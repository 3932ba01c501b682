#pragma once

#include "ops/types.h"

namespace dragoman::ops {

/// Computes the probabilities of each row: softmax(x)[n][c] = exp(x[n][c] - m) / sum_j exp(x[n][j] - m), with m the
/// largest of the row.
/// @param x  [N, C] float32 or float64;  @return [N, C]. C = 0 gives an empty result.
/// Saves for backward: the result. A row with NaN, or with +infinity, becomes NaN.
/// The relative error of the float32 kernel is about 1e-6.
/// Throws: Error unless x is a matrix: "softmax: x is [3], must be a matrix".
Variable softmax(const Variable& x);

/// Computes the natural logarithm of softmax without an exponential of the result: x[n][c] - log sum_j exp(x[n][j]).
/// @param x  [N, C] float32 or float64;  @return [N, C].  Saves for backward: the result.
Variable log_softmax(const Variable& x);

}  // namespace dragoman::ops
