#pragma once

#include <functional>
#include <span>

#include "kernels/cpu/gemm/panel_storage.h"
#include "kernels/product_kernel.h"
#include "kernels/transpose.h"
#include "kernels/types.h"

namespace dragoman::kernels {

class PackedMatrix;

/// One of several products of the same rows:  y = x W + bias.
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

/// The right operand of products, laid out for this machine's kernels:  y = activation(x W + bias).
/// A matrix in bfloat16 also takes rows x that are bfloat16, which give the bits of the same numbers in float32, and
/// writes y as bfloat16: the sums, with the bias, rounded once, then the activation of that.
/// The bits of a row of y depend on that row of x alone, whatever the number of rows, and equal those of `gemm_bias`
/// with the same precision. Any number of threads may multiply at once, and pack different panels at once.
/// Holds a copy: 4 * K * N bytes in float32, half in bfloat16, a quarter in int8, N rounded up to whole vectors.
/// In int8 columns of W and rows of x are scaled so that their largest element is 127, and rounded to nearest; sums are
/// exact, so that the bits of y are the same on every instruction set.
class PackedMatrix {
 public:
  /// Room for W [rows, columns]; `pack` fills it.
  PackedMatrix(int64_t rows, int64_t columns, Precision precision);
  /// @param weight  [K, N] float32, or [N, K] with Transpose::kYes; rows may be strided
  /// Throws Error: "packed_matrix: weight is float64, must be float32".
  explicit PackedMatrix(const Tensor& weight, Transpose transpose = Transpose::kNo,
                        Precision precision = Precision::kFloat32);

  /// Several weights [K, Ni] side by side as one [K, N1 + N2 + ...]: one product instead of many.
  /// Throws Error: "packed_matrix: weight 1 has 32 rows, weight 0 has 64", and when there is none.
  [[nodiscard]] static PackedMatrix concatenate(std::span<const Tensor> weights);

  /// The same matrix in int8; `matrix` must be float32. The bits are those of the weight packed in int8.
  [[nodiscard]] static PackedMatrix rounded(const PackedMatrix& matrix);

  int64_t rows() const { return rows_; }        ///< K, columns of x
  int64_t columns() const { return columns_; }  ///< N, columns of y
  Precision precision() const { return precision_; }
  ProductKernel kernel() const { return kernel_; }
  /// For kernels that copy columns as they are packed.
  const PanelStorage& storage() const { return panels_; }

  /// The copy consists of so many panels, groups of neighbouring columns. All but the last are equally large.
  int64_t panels() const;
  /// Packs panels [begin, end) of `weight`, as in the constructor, over what they held. Asks for no memory.
  void pack(const Tensor& weight, Transpose transpose, int64_t begin, int64_t end);

  /// The same from a weight that is int8 already; the matrix must be int8. The bits of products are those of the matrix
  /// packed from the float32 weight that was quantised.
  void pack(const QuantisedWeight& weight, Transpose transpose, int64_t begin, int64_t end);
  /// Column `column` of W as it is packed (rounded), into K floats: the way back for embedding tables.
  void unpack_column(int64_t column, float* to) const;

  /// @param x  [M, K];  @param y  [M, N], overwritten; rows of both may be strided. Each float32, or bfloat16 where the
  /// matrix is.
  /// Throws Error: "packed_matrix: x is [3, 5], must have 4 columns".
  void multiply(const Tensor& x, const PackedEpilogue& epilogue, Tensor& y) const;
  /// The same for several matrices, with the bits of `multiply` one by one. Rows of x are rounded once for all of those
  /// in bfloat16 or int8. Throws Error as `multiply`, and for matrices of different precision.
  static void multiply_each(const Tensor& x, std::span<ProductOfSame> products);
  /// y += x W.  @param y  float32
  void multiply_accumulate(const Tensor& x, Tensor& y) const;
  /// y = x W[first_row .. first_row + x.dim(1)), or y += that: what the columns of a part (multiply_columns of the
  /// transposed matrix) add to the product. first_row is a multiple of kPartColumns; not in int8. y is float32.
  /// Throws Error: "packed_matrix: rows 3 to 5 asked for, there are 4; the first must be a multiple of 480".
  void multiply_rows(const Tensor& x, int64_t first_row, bool accumulate, Tensor& y) const;

  /// Columns first_column .. first_column + y.dim(1) of x W + bias, with the bits of `multiply`. Both are multiples of
  /// kPartColumns, but for the last columns.  @param x  float32 or bfloat16, as in `multiply`;  @param bias  [N], of
  /// all Throws Error: "packed_matrix: columns 480 to 960 asked for, there are 900; must be whole parts of 480, but the
  /// last".
  void multiply_columns(const Tensor& x, const Tensor& bias, int64_t first_column, Tensor& y) const;

  /// One element of  x W + bias  for one row x [K], with the bits that `multiply` gives it; the matrix must be float32.
  /// Reads K lines of memory, as far apart as the rows of a panel.  @param bias  [N] float32, undefined for none
  float multiply_column(const float* x, const Tensor& bias, int64_t column) const;

  /// y = x W + bias, the same bits as by `multiply`, in parts small enough to stay in the second-level cache. The parts
  /// of a row come in the order of their columns; each has kPartColumns but the last.
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
