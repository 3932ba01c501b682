#pragma once

#include <memory>
#include <span>

#include "kernels/cuda/cuda_allocator.h"
#include "kernels/cuda/recording.h"
#include "kernels/cuda/runtime.h"
#include "kernels/cuda/views.h"
#include "kernels/dropout_mask.h"
#include "kernels/types.h"

namespace dragoman::kernels::cuda {

/// An array in device memory for the time of a call. What was queued may still use the memory after this ends, because
/// later kernels run after it.
template <typename T>
class DeviceArray {
 public:
  explicit DeviceArray(int64_t count)
      : from_(scratch_memory()), memory_(from_.allocate(static_cast<size_t>(count) * sizeof(T))) {}
  explicit DeviceArray(std::span<const T> values) : DeviceArray(static_cast<int64_t>(values.size())) { write(values); }
  ~DeviceArray() { from_.release(memory_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  T* data() const { return static_cast<T*>(memory_); }
  /// Overwrites the first elements.
  void write(std::span<const T> values) const { copy_in(values.data(), values.size_bytes(), memory_); }
  /// Overwrites `values` with the first elements, after all that was queued has run.
  void read(std::span<T> values) const { copy_out(memory_, values.size_bytes(), values.data()); }

 private:
  CudaAllocator& from_;
  void* memory_;
};

/// The elements of an int32 or bool tensor in device memory; a copy if the tensor is in host memory, which is kept
/// beside a constant tensor.
template <typename T>
class OnDevice {
 public:
  explicit OnDevice(const Tensor& tensor) {
    if (tensor.device().is_host()) {
      copy_ = tensor.derived<DeviceArray<T>>(
          [&] { return std::make_shared<DeviceArray<T>>(tensor.span<T>()); },
          [](const Tensor& now, const DeviceArray<T>& copy) { copy.write(now.span<T>()); });
    }
    data_ = copy_ != nullptr ? copy_->data() : static_cast<const T*>(tensor.device_data());
  }
  const T* data() const { return data_; }

 private:
  std::shared_ptr<const DeviceArray<T>> copy_;
  const T* data_ = nullptr;
};

template <typename T>
Matrix<T> matrix_of(const Tensor& tensor) {
  return {static_cast<T*>(const_cast<void*>(tensor.device_data())), tensor.rank() < 2 ? 0 : tensor.stride(0)};
}

inline AnyMatrix any_matrix_of(const Tensor& tensor) {
  return {const_cast<void*>(tensor.device_data()), tensor.stride(0), is_bfloat16(tensor)};
}

template <typename T>
T* elements_of(const Tensor& tensor) {
  return static_cast<T*>(const_cast<void*>(tensor.device_data()));
}

inline Extent extent_of(const Tensor& matrix) {
  return {matrix.dim(0), matrix.dim(1)};
}

inline Mask mask_of(const Dropout& dropout) {
  if (dropout.probability == 0.0F) {
    return {};
  }
  constexpr uint32_t kPass = 0x80000000U;  // the part of a step that a device is not told of
  return {dropout_threshold(dropout),
          static_cast<float>(dropout_scale(dropout)),
          static_cast<uint32_t>(dropout.seed),
          static_cast<uint32_t>(dropout.seed >> 32U),
          dropout.step_on_device == nullptr ? dropout.step : dropout.step & kPass,
          dropout.site,
          static_cast<uint32_t>(dropout.first_row),
          dropout.step_on_device};
}

}  // namespace dragoman::kernels::cuda
