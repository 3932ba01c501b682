#pragma once

#include <span>
#include <utility>
#include <vector>

#include "tensor/tensor.h"

namespace dragoman::tensor {

// The transfers: how everything above `kernels` reads and writes elements of tensors. Tensors in host memory are not
// copied. Tensor::from, item, to_vector, copy_from and to work on every device, too.

/// While alive, new tensors of this thread are in host memory.
class [[nodiscard]] HostScope {
 public:
  HostScope() : scope_(Arena::host()) {}

 private:
  ArenaScope scope_;
};

/// Returns: `tensor` if it is in host memory, otherwise a contiguous copy in host memory.
Tensor to_host(const Tensor& tensor);

/// Returns: a constant tensor [n] in host memory with a copy of `values`. Numbers that steer a computation, such as
/// ids, stay on the host, where ops check them. Requires: nobody writes it.
Tensor host_tensor(std::span<const int32_t> values);

/// Returns: `tensor` if it is on the device of the current allocator, otherwise a contiguous copy there.
Tensor to_current_device(const Tensor& tensor);

/// Returns: the elements of all tensors, one after another, with one wait for a device.
/// Requires: the tensors are contiguous float64, all on the device of the current allocator.
std::vector<double> numbers_of(std::span<const Tensor> tensors);

/// Exchanges all elements of two contiguous tensors of equal shape, dtype and device.
void swap_elements(Tensor& left, Tensor& right);

/// Returns: the number of elements from the first element of `whole` to the first element of `part`, a view of it.
int64_t offset_in(const Tensor& whole, const Tensor& part);

/// Overwrites all elements of a tensor. Requires: as many values as elements; the tensor is contiguous.
template <typename T>
void copy_from_host(std::span<const T> values, Tensor& tensor);

/// The elements of a contiguous tensor, for reading: the memory of the tensor if that is the host's, otherwise a copy.
/// The view keeps the memory alive.
/// Throws: Error as Tensor::span does.
template <typename T>
class HostView {
 public:
  explicit HostView(const Tensor& tensor) : held_(to_host(tensor)), elements_(std::as_const(held_).span<T>()) {}

  std::span<const T> span() const { return elements_; }
  operator std::span<const T>() const { return elements_; }
  const T* data() const { return elements_.data(); }
  size_t size() const { return elements_.size(); }
  auto begin() const { return elements_.begin(); }
  auto end() const { return elements_.end(); }
  const T& front() const { return elements_.front(); }
  const T& back() const { return elements_.back(); }
  const T& operator[](size_t index) const { return elements_[index]; }

 private:
  Tensor held_;
  std::span<const T> elements_;
};

/// The rows of a matrix [N, D] with dense rows, for reading, as HostView.
template <typename T>
class HostRows {
 public:
  explicit HostRows(const Tensor& matrix) : held_(to_host(matrix)), first_(std::as_const(held_).data<T>()) {}

  std::span<const T> operator[](size_t row) const {
    return {first_ + static_cast<int64_t>(row) * held_.stride(0), static_cast<size_t>(held_.dim(1))};
  }

 private:
  Tensor held_;
  const T* first_;
};

/// The elements of a contiguous tensor, for writing. If the memory is not the host's, the elements are a copy, which
/// replaces those of the tensor when this ends.
template <typename T>
class HostEdit {
 public:
  explicit HostEdit(const Tensor& tensor) : edited_(tensor), held_(to_host(tensor)), elements_(held_.span<T>()) {}
  ~HostEdit() {
    if (!edited_.device().is_host()) {
      edited_.copy_from(held_);
    }
  }
  HostEdit(const HostEdit&) = delete;
  HostEdit& operator=(const HostEdit&) = delete;

  std::span<T> span() { return elements_; }

 private:
  Tensor edited_;
  Tensor held_;
  std::span<T> elements_;
};

}  // namespace dragoman::tensor
