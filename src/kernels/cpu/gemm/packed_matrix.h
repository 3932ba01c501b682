#pragma once

#include <functional>
#include <span>

#include "kernels/cpu/gemm/panel_storage.h"
#include "kernels/int8_weight.h"
#include "kernels/product_kernel.h"
#include "kernels/transpose.h"
#include "kernels/types.h"

namespace dragoman::kernels {

class PackedMatrix;

/// Describes one of several products of the same rows:  y = activation(x W + bias).
struct ProductOfSame {
  const PackedMatrix* matrix;
  PackedEpilogue epilogue;
  Tensor y;  ///< [M, N] float32 or bfloat16, overwritten
};

/// Quantizes a weight as PackedMatrix does: the scale of a column makes its largest magnitude 127, and values are
/// rounded to nearest, ties to even.
/// @param weight  [K, N] float32 contiguous, or [N, K] with Transpose::kYes
[[nodiscard]] QuantisedWeight quantise(const Tensor& weight, Transpose transpose);
/// Returns: values * scales as float32, in the shape of the values.
[[nodiscard]] Tensor dequantise(const QuantisedWeight& weight, Transpose transpose);

/// Holds the right operand W [K, N] of matrix products in panels for the kernels of this machine:
///   y = activation(x W + bias)
/// A matrix in bfloat16 also takes x in bfloat16, with the bits of the same numbers in float32. It also writes y in
/// bfloat16: the sum with the bias is rounded once, then the activation is applied.
/// In int8, each column of W and each row of x is scaled so that its largest magnitude is 127, and rounded to nearest.
/// Sums of int8 are exact, so that y has the same bits on every instruction set.
/// The bits of a row of y depend on that row of x alone, and equal the bits of `gemm_bias` in the same precision.
/// Memory: 4 * K * N bytes in float32, half in bfloat16, a quarter in int8, with N rounded up to whole vectors.
/// Threads: any number may multiply at once, and may pack different panels at once.
class PackedMatrix {
 public:
  /// Allocates room for W [rows, columns]; `pack` fills it.
  PackedMatrix(int64_t rows, int64_t columns, Precision precision);
  /// Packs a weight. @param weight  [K, N] float32, or [N, K] with Transpose::kYes; rows may be strided
  /// Throws: Error, "packed_matrix: weight is float64, must be float32".
  explicit PackedMatrix(const Tensor& weight, Transpose transpose = Transpose::kNo,
                        Precision precision = Precision::kFloat32);

  /// Returns: several weights [K, Ni] side by side as one matrix [K, N1 + N2 + ...], for one product instead of many.
  /// Requires: at least one weight.
  /// Throws: Error, "packed_matrix: weight 1 has 32 rows, weight 0 has 64".
  [[nodiscard]] static PackedMatrix concatenate(std::span<const Tensor> weights);

  /// Returns: the matrix in int8, with the bits of its weight packed in int8. Requires: `matrix` is float32.
  [[nodiscard]] static PackedMatrix rounded(const PackedMatrix& matrix);

  int64_t rows() const { return rows_; }        ///< K, columns of x
  int64_t columns() const { return columns_; }  ///< N, columns of y
  Precision precision() const { return precision_; }
  ProductKernel kernel() const { return kernel_; }
  /// Gives the panels to kernels that copy packed columns.
  const PanelStorage& storage() const { return panels_; }

  /// Returns: the number of panels, groups of neighbouring columns. All panels but the last are equally large.
  int64_t panels() const;
  /// Overwrites panels [begin, end) with those of `weight`, which is as in the constructor. Allocates nothing.
  void pack(const Tensor& weight, Transpose transpose, int64_t begin, int64_t end);

  /// Overwrites panels [begin, end) with those of a quantized weight. Products have the bits of the matrix packed from
  /// the original float32 weight. Requires: the matrix is int8.
  void pack(const QuantisedWeight& weight, Transpose transpose, int64_t begin, int64_t end);
  /// Writes column `column` of W, as rounded by packing, into K floats. Embedding tables are read this way.
  void unpack_column(int64_t column, float* to) const;

  /// Computes y = activation(x W + bias).
  /// @param x  [M, K];  @param y  [M, N], overwritten. Rows of both may be strided. Both are float32; if the matrix is
  /// bfloat16, each may also be bfloat16.
  /// Throws: Error, "packed_matrix: x is [3, 5], must have 4 columns".
  void multiply(const Tensor& x, const PackedEpilogue& epilogue, Tensor& y) const;
  /// Computes several products of the same x, with the bits of separate calls of `multiply`. In bfloat16 and int8 the
  /// rows of x are rounded once for all matrices.
  /// Throws: Error, as `multiply` does, and for matrices of different precision.
  static void multiply_each(const Tensor& x, std::span<ProductOfSame> products);
  /// Computes y += x W.  @param y  [M, N] float32
  void multiply_accumulate(const Tensor& x, Tensor& y) const;
  /// Computes y = x W[first_row .. first_row + x.dim(1)), or adds it to y. The columns of a part, from multiply_columns
  /// of the transposed matrix, add this to the product.
  /// Requires: first_row is a multiple of kPartColumns; the matrix is not int8; y is float32.
  /// Throws: Error, "packed_matrix: rows 3 to 5 requested, there are 4; the first must be a multiple of 480".
  void multiply_rows(const Tensor& x, int64_t first_row, bool accumulate, Tensor& y) const;

  /// Computes columns first_column .. first_column + y.dim(1) of x W + bias, with the bits of `multiply`. first_column
  /// and y.dim(1) are multiples of kPartColumns, except for the last columns.
  /// @param x  float32 or bfloat16, as in `multiply`;  @param bias  [N], of all columns
  /// Throws: Error, "packed_matrix: columns 480 to 960 requested, there are 900; must be whole parts of 480, but the
  /// last".
  void multiply_columns(const Tensor& x, const Tensor& bias, int64_t first_column, Tensor& y) const;

  /// Returns: one element of  x W + bias  for one row x [K], with the bits of `multiply`.
  /// Reads K cache lines, as far apart as the rows of a panel.  @param bias  [N] float32, undefined for none
  /// Requires: the matrix is float32.
  float multiply_column(const float* x, const Tensor& bias, int64_t column) const;

  /// Computes x W + bias, with the bits of `multiply`, in parts that stay in the second-level cache. The parts of a row
  /// arrive in the order of their columns. Each part but the last has kPartColumns columns.
  void multiply_in_parts(const Tensor& x, const Tensor& bias, const TakePart& take) const;

 private:
  tensor::DType allowed_type(const Tensor& matrix) const;
  void check(const Tensor& x, const PackedEpilogue& epilogue, const Tensor& y) const;

  int64_t rows_;
  int64_t columns_;
  Precision precision_;
  ProductKernel kernel_;
  PanelStorage panels_;
};

}  // namespace dragoman::kernels
