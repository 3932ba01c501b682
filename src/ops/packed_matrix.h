#pragma once

#include <span>

#include "ops/activation.h"
#include "ops/gemm.h"

namespace dragoman::ops {

/// What follows the product in the same pass.
struct PackedEpilogue {
  Tensor bias;  ///< [N] float32, added to each row; undefined = none
  Activation activation = Activation::kNone;
};

/// A weight laid out once for this machine's kernels, for inference:  y = activation(x W + bias).
/// The bits of a row of y depend on that row of x alone, whatever the number of rows, and equal those of `gemm_bias`.
/// Immutable, so any number of threads may multiply at once. Holds a copy: 4 * K * N bytes, N rounded up to whole
/// vectors.
class PackedMatrix {
 public:
  /// @param weight  [K, N] float32, or [N, K] with Transpose::kYes; rows may be strided
  /// Throws Error: "packed_matrix: weight is float64, must be float32".
  explicit PackedMatrix(const Tensor& weight, Transpose transpose = Transpose::kNo);

  /// Several weights [K, Ni] side by side as one [K, N1 + N2 + ...]: one product instead of many.
  /// Throws Error: "packed_matrix: weight 1 has 32 rows, weight 0 has 64", and when there is none.
  static PackedMatrix concatenate(std::span<const Tensor> weights);

  int64_t rows() const { return rows_; }        ///< K, columns of x
  int64_t columns() const { return columns_; }  ///< N, columns of y

  /// @param x  [M, K] float32;  @param y  [M, N] float32, overwritten; rows of both may be strided
  /// Throws Error: "packed_matrix: x is [3, 5], must have 4 columns".
  void multiply(const Tensor& x, const PackedEpilogue& epilogue, Tensor& y) const;

 private:
  int64_t rows_;
  int64_t columns_;
  Tensor panels_;
};

}  // namespace dragoman::ops
