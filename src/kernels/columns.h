#pragma once

#include "kernels/types.h"

namespace dragoman::kernels {

/// Computes  y[n] = a * x[n] + b * (z[n] - mean) + c  with a row for each of a, b, mean and c: what a norm over the
/// columns does forward and backward.
struct ColumnMap {
  const Tensor& x;     ///< [N, D]; undefined for none, then a is not read
  const Tensor& z;     ///< [N, D]
  const Tensor& a;     ///< [D]
  const Tensor& b;     ///< [D]
  const Tensor& mean;  ///< [D]
  const Tensor& c;     ///< [D]
  Tensor& y;           ///< [N, D], overwritten
};

}  // namespace dragoman::kernels
