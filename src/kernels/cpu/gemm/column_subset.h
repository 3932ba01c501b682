#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/cpu/gemm/packed_matrix.h"

namespace dragoman::kernels {

/// Some columns of a packed matrix W [K, N], copied as they are packed into a smaller one that grows:
///   y = x W(:, columns) + bias(columns)
/// A column's bits are those of the whole product. Memory: 4 * K bytes a column in float32, half in bfloat16, a quarter
/// in int8, with room for up to twice the columns ever held; from the arena current when it is needed.
class ColumnSubset {
 public:
  /// @param whole  must outlive this;  @param bias  [N] float32, undefined for none
  ColumnSubset(const PackedMatrix& whole, const Tensor& bias) : whole_(whole), bias_(bias) {}

  int64_t size() const { return size_; }
  /// Forgets all columns.
  void clear() { size_ = 0; }
  /// Adds columns of W behind those that are held. Copying is fastest where they rise.
  /// Throws Error: "column_subset: column 32000 asked for, there are 32000".
  void append(std::span<const int32_t> columns);
  /// @param x  [R, K] float32;  @return [R, at least size()]: column i is the i-th that was added; those behind say
  /// nothing
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
