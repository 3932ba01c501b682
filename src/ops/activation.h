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

/// Computes dropout(activation(gate) * up) in one pass: the hidden values of a gated feed-forward layer.
/// @param gate, up  [N, F] float32, float64 or bfloat16, of one type; rows may be strided
/// @return [N, F]. float32 equals the composition of activation, multiply and dropout bit for bit; bfloat16 is computed
///   in float32 and rounded once.
/// Saves for backward: gate and up (shared).   Gradients: gate, up.
/// Throws: Error, "gated_activation: up is [2, 3], must be [2, 4]".
/// Source: Dauphin et al. 2017, "Language Modeling with Gated Convolutional Networks"; Shazeer 2020, "GLU Variants
/// Improve Transformer", eq. (6), where kSilu is SwiGLU, kGelu GEGLU, kRelu ReGLU and kNone bilinear.
Variable gated_activation(const Variable& gate, const Variable& up, Activation activation, const Dropout& dropout = {});

}  // namespace dragoman::ops
