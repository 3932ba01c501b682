#pragma once

#include "kernels/activation.h"
#include "kernels/transpose.h"
#include "kernels/types.h"

namespace dragoman::kernels {

/// A weight quantized to int8:  w(k, n) = values(k, n) * scales[n], with n the column in y = x W.
struct QuantisedWeight {
  Tensor values;  ///< [K, N] int8, or [N, K] with Transpose::kYes; from -127 to 127
  Tensor scales;  ///< [N] float32, the scale of each column; 0 for a column of zeros
};

/// Holds a weight W [K, N] in int8 for a device that packs no weights, with the numbers of QuantisedWeight.
struct Int8Weight {
  /// Rows and columns of `values` come in multiples of this, so that products may read 16 bytes at a time.
  static constexpr int64_t kMultiple = 16;

  Tensor values;     ///< [N', K'] int8: row n has column n of W; zeros past [N, K]
  Tensor scales;     ///< [N] float32, the scale of each column
  int64_t depth;     ///< K
  Transpose stored;  ///< kYes: the weight is [N, K] in files, as an embedding used as output weight

  int64_t columns() const { return scales.dim(0); }         ///< N
  int64_t padded_columns() const { return values.dim(0); }  ///< N'
  int64_t padded_depth() const { return values.dim(1); }    ///< K'
  /// Returns: the shape of the weight as stored in files.
  tensor::Shape shape() const {
    return stored == Transpose::kYes ? tensor::Shape{columns(), depth} : tensor::Shape{depth, columns()};
  }
};

/// Returns: the weight in the memory of the current device.  @param weight  [K, N], or [N, K] with Transpose::kYes, in
/// host memory
[[nodiscard]] Int8Weight int8_weight(const QuantisedWeight& weight, Transpose stored);

/// Describes one of several products of the same rows:  y = activation(x W + bias).
struct Int8Product {
  const Int8Weight& weight;
  Tensor bias;            ///< [N] float32, undefined for none
  Activation activation;  ///< kNone or kRelu
  Tensor y;               ///< [M, N] float32, overwritten
};

}  // namespace dragoman::kernels
