#pragma once

#include <cstdint>
#include <memory>
#include <mutex>

#include "nn/weight_packing.h"

namespace dragoman::nn {

/// The weights of a model in bfloat16, for a device whose products take them as stored. One kernel rounds all of them
/// when the first product after a change asks. Threads: any.
class RoundedValues {
 public:
  explicit RoundedValues(std::shared_ptr<const ParameterValues> values) : values_(std::move(values)) {}

  /// Returns: the elements from `offset` of the flat buffer on, rounded; undefined if the current allocator is of
  /// another device than the values.
  [[nodiscard]] tensor::Tensor part(int64_t offset, const tensor::Shape& shape);

 private:
  std::shared_ptr<const ParameterValues> values_;
  std::mutex mutex_;
  tensor::Tensor rounded_;  // [total]
  uint64_t version_ = 0;    // of the values when they were rounded
};

}  // namespace dragoman::nn
