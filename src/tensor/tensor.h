#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <typeindex>
#include <vector>

#include "tensor/arena.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace dragoman::tensor {

/// A row-major n-dimensional array: shape, strides in elements, dtype and shared memory of a device.
/// A copy of a Tensor and the views (`reshape`, `rows`, `columns`) share the memory. `clone` copies the memory.
/// `const` is shallow: a copy or view of a const Tensor may write it.
/// Threads: as a shared pointer. Several threads may read one element, but not write it.
class Tensor {
 public:
  /// Constructs an undefined tensor without memory, with shape [0].
  Tensor() = default;

  /// Returns a tensor with uninitialised memory of Arena::current(), on the device of that allocator.
  static Tensor empty(const Shape& shape, DType dtype = DType::kFloat32);
  static Tensor zeros(const Shape& shape, DType dtype = DType::kFloat32);
  static Tensor full(const Shape& shape, double value, DType dtype = DType::kFloat32);
  /// Returns a tensor with a copy of `values`. Throws: Error unless their number is shape.size().
  template <typename T>
  static Tensor from(std::span<const T> values, const Shape& shape);
  template <typename T>
  static Tensor from(const std::vector<T>& values, const Shape& shape) {
    return from(std::span<const T>(values), shape);
  }

  bool defined() const { return storage_ != nullptr; }
  DType dtype() const { return dtype_; }
  Device device() const { return device_; }
  const Shape& shape() const { return shape_; }
  int rank() const { return shape_.rank(); }
  /// Returns the size of one axis.
  int64_t dim(int axis) const { return shape_[axis]; }
  /// Returns the distance in elements between neighbours along an axis.
  int64_t stride(int axis) const { return strides_[static_cast<size_t>(axis)]; }
  /// Returns the number of elements.
  int64_t size() const { return shape_.size(); }
  bool is_contiguous() const;
  /// Returns true if another tensor shares the memory.
  bool is_shared() const { return storage_.use_count() > 1; }

  /// Returns the first element, in host memory. Kernels use it; everything above them uses tensor/transfer.h.
  /// Throws: Error if T is not the dtype of the tensor, "tensor: asked for float32, holds int32", or if the memory is
  /// not the host's, "tensor: the host asked for the memory of cuda:0; use a transfer".
  template <typename T>
  T* data() {
    check_access(DTypeOf<T>::value);
    return reinterpret_cast<T*>(first_);
  }
  template <typename T>
  const T* data() const {
    check_access(DTypeOf<T>::value);
    return reinterpret_cast<const T*>(first_);
  }
  void* raw_data() {
    check_access(dtype_);
    return first_;
  }
  const void* raw_data() const {
    check_access(dtype_);
    return first_;
  }
  /// Returns the address of the first element in the memory of the device, to be given to kernels of the device.
  void* device_data() { return first_; }
  const void* device_data() const { return first_; }
  /// Returns all elements of a contiguous tensor. Throws: Error for a strided view, and as `data` does.
  template <typename T>
  std::span<const T> span() const;
  template <typename T>
  std::span<T> span();
  template <typename T>
  std::vector<T> to_vector() const;
  /// Returns the only element of a float tensor with one element, as double.
  double item() const;

  /// Returns a view with another shape of equal size. Requires: the tensor is contiguous.
  Tensor reshape(const Shape& shape) const;
  /// Returns a view of the rows [begin, end) of axis 0.
  Tensor rows(int64_t begin, int64_t end) const;
  /// Returns a view of the columns [begin, end) of a matrix. The row stride is unchanged.
  Tensor columns(int64_t begin, int64_t end) const;

  /// Returns a view of the memory from `byte_offset` as elements of another dtype. Memory with the wrong alignment is
  /// copied. Requires: the tensor is contiguous. Throws: Error if the elements exceed the memory.
  Tensor reinterpret(int64_t byte_offset, const Shape& shape, DType dtype) const;

  /// Returns a contiguous copy in memory of the current allocator.
  Tensor clone() const;
  /// Returns a copy with converted elements. Conversion to bfloat16 rounds to nearest even.
  Tensor to(DType dtype) const;
  /// Overwrites all elements. The devices may differ. Requires: equal shapes and dtypes.
  void copy_from(const Tensor& source);
  void fill(double value);
  void zero() { fill(0.0); }

  /// Declares that no element is written from now on. Then `derived` keeps its results.
  void set_constant();
  /// Returns: what `make` makes of the elements, such as a copy on a device. The result for a constant tensor is kept
  /// beside its memory, and later calls for the same elements and the same T return it.
  /// Threads: any.
  /// @param refresh  makes the result that of other elements, where it stays; see refill
  template <typename T>
  std::shared_ptr<const T> derived(const std::function<std::shared_ptr<const T>()>& make,
                                   void (*refresh)(const Tensor& now, const T& result) = nullptr) const {
    const auto again = [refresh](const Tensor& now, const void* result) {
      refresh(now, *static_cast<const T*>(result));
    };
    return std::static_pointer_cast<const T>(derived_as(typeid(T), make, refresh == nullptr ? Refresh() : again));
  }
  /// Overwrites all elements of a constant tensor, and what was derived of them, where it stays.
  /// Requires: host memory, one value for each element, and no other thread that reads the tensor.
  /// Throws: Error, "tensor: what was derived of it cannot be refilled".
  template <typename T>
  void refill(std::span<const T> values);

 private:
  struct Storage;
  using Refresh = std::function<void(const Tensor& now, const void* result)>;

  std::shared_ptr<const void> derived_as(std::type_index type, const std::function<std::shared_ptr<const void>()>& make,
                                         const Refresh& refresh) const;

  void check_access(DType asked) const {
    if (asked != dtype_ || !device_.is_host()) [[unlikely]] {
      check_access_slowly(asked);
    }
  }
  void check_access_slowly(DType asked) const;
  void copy_bytes(const Tensor& source, int64_t from, int64_t to, int64_t elements);

  std::shared_ptr<Storage> storage_;
  char* first_ = nullptr;  // the first element: kernels ask for it once a row
  Shape shape_{0};
  std::array<int64_t, Shape::kMaxRank> strides_{};
  DType dtype_ = DType::kFloat32;
  Device device_;
};

/// Convert between float32 and bfloat16, with rounding to nearest even. NaN stays NaN.
BFloat16 to_bfloat16(float value);
float to_float(BFloat16 value);

inline bool is_bfloat16(const Tensor& tensor) {
  return tensor.dtype() == DType::kBFloat16;
}

/// Checks the shape of an argument of an op. Throws: Error, "linear: bias is [3], must be [4]".
void check_shape(const Tensor& tensor, const Shape& expected, const char* op, const char* argument);
/// Checks that an argument of an op is a matrix with a dtype and dense rows. Throws: Error.
void check_matrix(const Tensor& tensor, DType dtype, const char* op, const char* argument);

}  // namespace dragoman::tensor
