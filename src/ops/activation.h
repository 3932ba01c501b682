#pragma once

#include "autograd/variable.h"
#include "ops/dropout.h"

namespace dragoman::ops {

/// The nonlinearity of a feed-forward layer.
enum class Activation {
  kNone,  ///< x
  kRelu,  ///< max(0, x)
  kGelu,  ///< x Phi(x), Phi = cumulative normal distribution (the erf form; Hendrycks and Gimpel 2016, section 2)
  kSilu,  ///< x / (1 + exp(-x)) (Elfwing et al. 2017; "swish")
};

/// Applies a nonlinearity to each element.
/// @param x  [N, D]  float32, float64 or bfloat16, which is computed with in float32; rows may be strided
/// @return [N, D]; x itself for kNone. NaN stays NaN.   float32: within 2e-7 max(1, |x|) of the formula.
/// Saves for backward: y for kRelu, else x (shared, not copied).   Gradients: x; that of ReLU at 0 is 0.
Variable activation(const Variable& x, Activation activation);

/// dropout(activation(x)) in one pass. Equals the composition bit for bit; saves the same as `activation`.
/// Throws Error: "activation_dropout: probability is 1.5, must be in [0, 1)".
Variable activation_dropout(const Variable& x, Activation activation, const Dropout& dropout);

}  // namespace dragoman::ops
