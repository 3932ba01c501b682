#pragma once

#include "kernels/layer_norm.h"
#include "ops/types.h"

namespace dragoman::ops {

using kernels::NormKind;

/// What the backward of a norm needs of its forward.
struct SavedNorm {
  Tensor x;       ///< [N, D] the input of the norm
  Tensor stats;   ///< [N, 2] mean and rstd of each row
  Variable gain;  ///< [D]
  Variable bias;  ///< [D]; undefined for none
  NormKind kind = NormKind::kLayer;
};

/// Throws: Error naming `op` unless x [N, D], gain [D] and bias [D] fit together and epsilon >= 0.
/// @param bias  undefined for none
void check_norm(const char* op, const Variable& x, const Variable& gain, const Variable& bias, float epsilon);

/// Returns: the value of a bias, or an undefined tensor if there is none.
[[nodiscard]] Tensor value_of_bias(const Variable& bias);

/// Returns: `x` in that type, converted if needed.
[[nodiscard]] Tensor in_type(const Tensor& x, DType dtype);

/// Undoes y = (x - mean) * rstd * gain + bias: adds to the gradients of gain and bias and returns the gradient of x.
///   n = (x - mean) * rstd,  g = dy * gain,  dx = (g - mean(g) - n * mean(g * n)) * rstd
/// In NormKind::kRms mean(g) is left out.
/// @param grad_dropped  [N, D], overwritten with dx * mask of `dropout`; null if not requested
[[nodiscard]] Tensor norm_backward(const SavedNorm& saved, const Tensor& grad_output, const Dropout& dropout,
                                   Tensor* grad_dropped);

}  // namespace dragoman::ops
