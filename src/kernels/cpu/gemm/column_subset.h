#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/cpu/gemm/packed_matrix.h"

namespace dragoman::kernels {

/// Holds copies of some packed columns of a matrix W [K, N] in a smaller matrix that grows:
///   y = x W(:, columns) + bias(columns)
/// A column of y has the bits of the whole product.
/// Memory: 4 * K bytes for each column in float32, half in bfloat16, a quarter in int8. There is room for up to twice
/// the largest number of columns held so far. The memory comes from the current arena of the thread that appends.
class ColumnSubset {
 public:
  /// @param whole  must outlive this;  @param bias  [N] float32, undefined for none
  ColumnSubset(const PackedMatrix& whole, const Tensor& bias) : whole_(whole), bias_(bias) {}

  int64_t size() const { return size_; }
  /// Removes all columns.
  void clear() { size_ = 0; }
  /// Appends columns of W. Copying is fastest if their numbers rise.
  /// Throws: Error, "column_subset: column 32000 requested, there are 32000".
  void append(std::span<const int32_t> columns);
  /// @param x  [R, K] float32;  @return [R, at least size()]; column i belongs to the i-th appended column, and columns
  /// from size() on are undefined
  Tensor multiply(const Tensor& x) const;

 private:
  void reserve(int64_t columns);
  void copy_to_panel(std::span<const int32_t> columns, int64_t to);

  const PackedMatrix& whole_;
  Tensor bias_;
  int64_t size_ = 0;
  int64_t room_ = 0;  // columns, whole panels
  PanelStorage panels_;
  Tensor subset_bias_;  // [room]
};

}  // namespace dragoman::kernels
