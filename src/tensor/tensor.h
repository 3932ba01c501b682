#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tensor/arena.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace dragoman::tensor {

/// A row-major n-dimensional array: shape, strides (in elements), dtype and a shared piece of arena memory.
/// Copying a Tensor shares the memory; views (`reshape`, `rows`, `columns`) never copy. Use `clone` to copy.
/// Thread safety: as a shared pointer; two threads may read the same elements, not write them.
class Tensor {
 public:
  /// No memory, shape [0]; `defined()` is false.
  Tensor() = default;

  /// Memory from Arena::current(), not initialised.
  static Tensor empty(const Shape& shape, DType dtype = DType::kFloat32);
  static Tensor zeros(const Shape& shape, DType dtype = DType::kFloat32);
  static Tensor full(const Shape& shape, double value, DType dtype = DType::kFloat32);
  /// Copies `values`; throws Error when their number is not shape.size().
  template <typename T>
  static Tensor from(std::span<const T> values, const Shape& shape);
  template <typename T>
  static Tensor from(const std::vector<T>& values, const Shape& shape) {
    return from(std::span<const T>(values), shape);
  }

  bool defined() const { return storage_ != nullptr; }
  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  int rank() const { return shape_.rank(); }
  /// Size of one axis.
  int64_t dim(int axis) const { return shape_[axis]; }
  /// Distance in elements between neighbours along an axis.
  int64_t stride(int axis) const { return strides_[static_cast<size_t>(axis)]; }
  /// Number of elements.
  int64_t size() const { return shape_.size(); }
  bool is_contiguous() const;
  /// True if another tensor holds the same memory, so that writing here would be seen there.
  bool is_shared() const { return storage_.use_count() > 1; }

  /// First element. Throws Error when T is not this tensor's dtype: "tensor: asked for float32, holds int32".
  template <typename T>
  T* data() {
    check_dtype(DTypeOf<T>::value);
    return reinterpret_cast<T*>(first_);
  }
  template <typename T>
  const T* data() const {
    check_dtype(DTypeOf<T>::value);
    return reinterpret_cast<const T*>(first_);
  }
  void* raw_data() { return first_; }
  const void* raw_data() const { return first_; }
  /// All elements of a contiguous tensor; throws Error for a strided view.
  template <typename T>
  std::span<const T> span() const;
  template <typename T>
  std::span<T> span();
  template <typename T>
  std::vector<T> to_vector() const;
  /// The one element of a scalar or size-1 float tensor, as double.
  double item() const;

  /// The same elements under another shape of equal size; needs contiguous memory.
  Tensor reshape(const Shape& shape) const;
  /// View of rows [begin, end) along axis 0.
  Tensor rows(int64_t begin, int64_t end) const;
  /// View of columns [begin, end) of a matrix; its rows keep the full row stride.
  Tensor columns(int64_t begin, int64_t end) const;

  /// The same memory from `byte_offset` on as elements of another kind; the tensor must be contiguous. Memory that is
  /// not aligned for them is copied. Throws Error when the elements would reach beyond it.
  Tensor reinterpret(int64_t byte_offset, const Shape& shape, DType dtype) const;

  /// Contiguous copy, in the current arena.
  Tensor clone() const;
  /// Copy with the elements converted (float32, float64, int32, bfloat16; bfloat16 rounds to nearest even).
  Tensor to(DType dtype) const;
  /// Overwrites all elements; shapes and dtypes must be equal.
  void copy_from(const Tensor& source);
  void fill(double value);
  void zero() { fill(0.0); }

 private:
  struct Storage;

  void check_dtype(DType asked) const {
    if (asked != dtype_) [[unlikely]] {
      refuse_dtype(asked);
    }
  }
  [[noreturn]] void refuse_dtype(DType asked) const;

  std::shared_ptr<Storage> storage_;
  char* first_ = nullptr;  // the first element: kernels ask for it once a row
  Shape shape_{0};
  std::array<int64_t, Shape::kMaxRank> strides_{};
  DType dtype_ = DType::kFloat32;
};

/// Round to nearest even, and back. NaN stays NaN.
BFloat16 to_bfloat16(float value);
float to_float(BFloat16 value);

inline bool is_bfloat16(const Tensor& tensor) {
  return tensor.dtype() == DType::kBFloat16;
}

/// Throws Error naming `op` and `argument` unless the tensor has this shape: "linear: bias is [3], must be [4]".
void check_shape(const Tensor& tensor, const Shape& expected, const char* op, const char* argument);
/// Throws Error unless rank and dtype are as asked and, for rank 2 and above, rows are dense in the last axis.
void check_matrix(const Tensor& tensor, DType dtype, const char* op, const char* argument);

}  // namespace dragoman::tensor
