#pragma once

#include <span>
#include <vector>

#include "ops/activation.h"
#include "ops/packed_weight.h"
#include "ops/types.h"

namespace dragoman::ops {

/// Affine map of each row:  y = x W + b.
/// @param x       [N, Din]     float32 or float64, all alike; rows may be strided. With a weight packed in bfloat16 x
/// may be that too
/// @param weight  [Din, Dout], or [Dout, Din] with stored = kYes (an embedding table used as output weight); with a
/// packed copy of a float32 weight the products use that, in its precision
/// @param bias    [Dout], or an undefined Variable for none
/// @return y [N, Dout], of the type of x; bfloat16 where the weight is packed in that and the gradient will be asked
/// for. A row of y depends on that row of x alone, bit for bit.
/// Saves for backward: x and weight (shared, not copied).   Gradients: x, weight (accumulated straight into its
/// buffer), bias.
/// Throws Error: "linear: weight is [64, 32], must have 16 rows as x has 16 columns" (columns when stored = kYes).
/// Source: Vaswani et al. 2017, section 3.3 (row convention).
Variable linear(const Variable& x, const Weight& weight, const Variable& bias, Transpose stored = Transpose::kNo);

/// linear, then the activation. With a packed weight both are one pass in inference, and in training where the
/// activation is ReLU; otherwise two ops.
Variable linear_activation(const Variable& x, const Weight& weight, const Variable& bias, Activation activation);

/// One of several affine maps of the same rows.
struct LinearMap {
  Weight weight;
  Variable bias;
};

/// y_i = x W_i + b_i: the values and gradients of `linear` one by one. In inference with packed weights rows of x are
/// rounded once for all.  @return y_i [N, Dout_i], in order
std::vector<Variable> linear_each(const Variable& x, std::span<const LinearMap> maps);

}  // namespace dragoman::ops
