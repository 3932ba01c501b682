#pragma once

#include "ops/types.h"

namespace dragoman::ops {

/// What the backward of a layer norm needs of its forward.
struct SavedNorm {
  Tensor x;      ///< [N, D] the input of the norm
  Tensor stats;  ///< [N, 2] mean and rstd of each row
  Variable gain, bias;
};

/// Throws: Error naming `op` unless x [N, D], gain [D] and bias [D] fit together and epsilon >= 0.
void check_norm(const char* op, const Variable& x, const Variable& gain, const Variable& bias, float epsilon);

/// Undoes y = (x - mean) * rstd * gain + bias: adds to the gradients of gain and bias and returns the gradient of x.
///   n = (x - mean) * rstd,  g = dy * gain,  dx = (g - mean(g) - n * mean(g * n)) * rstd
/// @param grad_dropped  [N, D], overwritten with dx * mask of `dropout`; null if not requested
[[nodiscard]] Tensor norm_backward(const SavedNorm& saved, const Tensor& grad_output, const Dropout& dropout,
                                   Tensor* grad_dropped);

}  // namespace dragoman::ops
