#pragma once

#include <span>
#include <vector>

#include "ops/activation.h"
#include "ops/packed_weight.h"
#include "ops/types.h"

namespace dragoman::ops {

/// Computes an affine map of each row:  y = x W + b.
/// @param x  [N, Din] float32 or float64; weight and bias have the same type; rows may be strided. If the weight is
/// packed in bfloat16, x may also be bfloat16
/// @param weight  [Din, Dout], or [Dout, Din] with stored = kYes (an embedding table used as output weight). Products
/// use the packed copy of a float32 weight, if there is one, in its precision
/// @param bias  [Dout], or an undefined Variable for none
/// @return y [N, Dout], of the type of x, on a GPU float32 for bfloat16; or bfloat16 if the weight is packed in
/// bfloat16 and a gradient is recorded. A row of y depends on that row of x alone, bit for bit. Saves for backward: x
/// and weight (shared, not copied). Gradients: x, weight (accumulated directly in its buffer), bias. Throws: Error,
/// "linear: weight is [64, 32], must have 16 rows as x has 16 columns" (columns when stored = kYes). Source: Vaswani et
/// al. 2017, section 3.3 (row convention).
Variable linear(const Variable& x, const Weight& weight, const Variable& bias, Transpose stored = Transpose::kNo);

/// Computes activation(linear(x)). With a packed weight this is one pass in inference, and in training if the
/// activation is ReLU; on a GPU it is one pass if the activation is ReLU. Otherwise it is two ops.
Variable linear_activation(const Variable& x, const Weight& weight, const Variable& bias, Activation activation);

/// Describes one of several affine maps of the same rows.
struct LinearMap {
  Weight weight;
  Variable bias;
};

/// Computes y_i = x W_i + b_i, with the values and gradients of separate calls of `linear`. In inference with packed
/// weights, or weights in int8, the rows of x are rounded once for all maps. On a GPU, training in bfloat16 computes
/// one product with the weights side by side; results are then columns of it, and so may their gradients be.  @return
/// y_i [N, Dout_i], in order
std::vector<Variable> linear_each(const Variable& x, std::span<const LinearMap> maps);

}  // namespace dragoman::ops
