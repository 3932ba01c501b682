#include "tensor/transfer.h"

#include <algorithm>

#include "base/error.h"

namespace dragoman::tensor {

Tensor to_host(const Tensor& tensor) {
  if (tensor.device().is_host()) {
    return tensor;
  }
  const HostScope on_host;
  return tensor.clone();
}

Tensor host_tensor(std::span<const int32_t> values) {
  const HostScope on_host;
  Tensor tensor = Tensor::from(values, {static_cast<int64_t>(values.size())});
  tensor.set_constant();
  return tensor;
}

Tensor to_current_device(const Tensor& tensor) {
  return tensor.device() == Arena::current()->device() ? tensor : tensor.clone();
}

std::vector<double> numbers_of(std::span<const Tensor> tensors) {
  int64_t size = 0;
  for (const Tensor& tensor : tensors) {
    size += tensor.size();
  }
  Tensor all = Tensor::empty({size}, DType::kFloat64);
  int64_t begin = 0;
  for (const Tensor& tensor : tensors) {
    const int64_t end = begin + tensor.size();
    all.rows(begin, end).copy_from(tensor.reshape({tensor.size()}));
    begin = end;
  }
  return all.to_vector<double>();
}

void swap_elements(Tensor& left, Tensor& right) {
  base::check_argument(left.is_contiguous() && right.is_contiguous() && left.shape() == right.shape() &&
                           left.dtype() == right.dtype() && left.device() == right.device(),
                       "swap_elements: {} {} and {} {}; both must be contiguous and alike", dtype_name(left.dtype()),
                       left.shape(), dtype_name(right.dtype()), right.shape());
  if (left.device().is_host()) {
    auto* const first = static_cast<char*>(left.raw_data());
    const size_t bytes = static_cast<size_t>(left.size()) * dtype_bytes(left.dtype());
    std::swap_ranges(first, first + bytes, static_cast<char*>(right.raw_data()));
    return;
  }
  const Tensor kept = to_host(left);
  left.copy_from(right);
  right.copy_from(kept);
}

int64_t offset_in(const Tensor& whole, const Tensor& part) {
  const std::ptrdiff_t bytes =
      static_cast<const char*>(part.device_data()) - static_cast<const char*>(whole.device_data());
  return bytes / static_cast<std::ptrdiff_t>(dtype_bytes(whole.dtype()));
}

template <typename T>
void copy_from_host(std::span<const T> values, Tensor& tensor) {
  const HostScope on_host;
  tensor.copy_from(Tensor::from(values, tensor.shape()));
}

template void copy_from_host<float>(std::span<const float>, Tensor&);
template void copy_from_host<int32_t>(std::span<const int32_t>, Tensor&);

}  // namespace dragoman::tensor
