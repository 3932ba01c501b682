#pragma once

#include "ops/types.h"

namespace dragoman::ops {

/// A weight whose columns are a direction and a length:  W_j = gain_j v_j / ||v_j||.
struct NormedWeight {
  Variable direction;   ///< [K, E], v; undefined if only packed copies are left
  Variable gain;        ///< [E]
  Tensor column_norms;  ///< [E], ||v_j||; read if `direction` is undefined, computed otherwise
};

/// Returns: ||v_j||, [E] in the type of the weight.  @param direction  [K, E] float32 or float64
[[nodiscard]] Tensor column_norms(const Tensor& direction);

/// Completes a product with a normed weight:  y = (x v) * gain / ||v|| + bias.  A column of W has one factor, so that
/// the product takes v itself, and no copy of W exists.
/// @param product  [N, E], x v, float32 or float64;  @param bias  [E], undefined for none
/// @return [N, E].   Saves for backward: the product (shared).   Gradients: product, direction, gain, bias. A column of
/// zeros gives the bias, and gets no gradient from here.
/// Throws: Error, "weight_norm: gain is [3], must be [4]".
/// Source: Salimans and Kingma 2016, "Weight Normalization", equations (2) and (3).
Variable weight_norm(const Variable& product, const NormedWeight& weight, const Variable& bias);

}  // namespace dragoman::ops
