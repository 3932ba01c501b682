#include "nn/rounded_values.h"

#include "kernels/backends/backend_of.h"

namespace dragoman::nn {

using tensor::Tensor;

Tensor RoundedValues::part(int64_t offset, const tensor::Shape& shape) {
  const std::lock_guard lock(mutex_);
  const Tensor& values = values_->flat;
  const uint64_t version = values_->version.load();
  if (!rounded_.defined() || version_ != version) {
    if (!rounded_.defined()) {
      const Tensor memory = Tensor::empty(values.shape(), tensor::DType::kBFloat16);
      if (memory.device() != values.device()) {
        return {};
      }
      rounded_ = memory;
    }
    Tensor rows = rounded_.reshape({1, rounded_.size()});
    kernels::backend_of(values).copy_rounded(values.reshape({1, values.size()}), rows);
    version_ = version;
  }
  return rounded_.rows(offset, offset + shape.size()).reshape(shape);
}

}  // namespace dragoman::nn
