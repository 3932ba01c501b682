#pragma once

#include "ops/types.h"

namespace dragoman::ops {

/// Computes residual + dropout(sublayer), the residual connection of the pre-norm order.
/// @param residual, sublayer  [N, D] float32 or float64; sublayer may be bfloat16 beside a float32 residual
/// @return [N, D].   Saves nothing for backward.   Gradients: residual, sublayer.
/// Throws: Error for unlike shapes: "residual_dropout: sublayer is [3, 4], must be [2, 4]".
/// Source: Vaswani et al. 2017, section 5.4 (residual dropout).
Variable residual_dropout(const Variable& residual, const Variable& sublayer, const Dropout& dropout);

/// Computes LayerNorm(residual + dropout(sublayer)) in one pass, the post-norm order. The result equals the composition
/// of `residual_dropout` and `layer_norm`, bit for bit. If sublayer is bfloat16, the result is also stored rounded to
/// bfloat16 (Variable::rounded), for the products that follow.
/// @param bias  undefined for none
/// @return [N, D].   Gradients: residual, sublayer, gain, bias.
/// Saves for backward: the sum (4*N*D bytes), and mean and rstd of each row.
/// Source: Vaswani et al. 2017, sections 3.1 and 5.4.
Variable residual_dropout_layer_norm(const Variable& residual, const Variable& sublayer, const Variable& gain,
                                     const Variable& bias, float epsilon, const Dropout& dropout);

/// Computes RMSNorm(residual + dropout(sublayer)) in one pass, as residual_dropout_layer_norm does with `rms_norm`.
Variable residual_dropout_rms_norm(const Variable& residual, const Variable& sublayer, const Variable& gain,
                                   float epsilon, const Dropout& dropout);

}  // namespace dragoman::ops
