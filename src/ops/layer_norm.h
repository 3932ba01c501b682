#pragma once

#include "ops/dropout.h"
#include "ops/types.h"

namespace dragoman::ops {

/// Normalises each row to mean 0 and variance 1, then scales and shifts each column:
///   y = (x - mean(x)) / sqrt(var(x) + epsilon) * gain + bias,  var = mean((x - mean(x))^2), not with D - 1
/// @param x  [N, D];  @param gain, bias  [D]      float32 or float64, all alike; rows of x may be strided
/// @return y [N, D]. A row of y depends on that row of x alone, bit for bit.
/// Saves for backward: x (shared), mean and 1/deviation of each row (8*N bytes).   Gradients: x, gain, bias.
/// Throws Error: "layer_norm: gain is [3], must be [4]", "layer_norm: epsilon is -1, must be >= 0".
/// Source: Ba et al. 2016, eq. (3) and (4); epsilon inside the root as in every common implementation.
Variable layer_norm(const Variable& x, const Variable& gain, const Variable& bias, float epsilon);

/// residual + dropout(sublayer): the residual connection of the pre-norm order.
/// @param residual, sublayer  [N, D]   float32 or float64; sublayer may be bfloat16 beside a float32 residual
/// Saves nothing for backward.   Gradients: residual, sublayer.   Throws Error for unlike shapes.
/// Source: Vaswani et al. 2017, section 5.4 (residual dropout).
Variable residual_dropout(const Variable& residual, const Variable& sublayer, const Dropout& dropout);

/// LayerNorm(residual + dropout(sublayer)) in one pass: the post-norm order. Equals the composition of
/// `residual_dropout` and `layer_norm`, bit for bit. Where sublayer is bfloat16 the result comes rounded too
/// (Variable::rounded), for the products that follow.
/// Saves for backward: the sum (4*N*D bytes), mean and 1/deviation of each row.   Gradients: all four Variables.
/// Source: Vaswani et al. 2017, sections 3.1 and 5.4.
Variable residual_dropout_layer_norm(const Variable& residual, const Variable& sublayer, const Variable& gain,
                                     const Variable& bias, float epsilon, const Dropout& dropout);

}  // namespace dragoman::ops
