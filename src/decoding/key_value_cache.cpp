#include "decoding/key_value_cache.h"

#include <algorithm>
#include <cstring>

#include "ops/attention_step.h"

namespace dragoman::decoding {
namespace {

constexpr int64_t kFirstCapacity = 256;

}  // namespace

int32_t KeyValueCache::take_row(int32_t previous) {
  if (free_.empty()) {
    grow();
  }
  const int32_t row = free_.back();
  free_.pop_back();
  previous_[static_cast<size_t>(row)] = previous;
  needs_[static_cast<size_t>(row)] = 1;
  if (previous >= 0) {
    ++needs_[static_cast<size_t>(previous)];
  }
  return row;
}

void KeyValueCache::release(int32_t row) {
  while (row >= 0 && --needs_[static_cast<size_t>(row)] == 0) {
    free_.push_back(row);
    row = previous_[static_cast<size_t>(row)];
  }
}

void KeyValueCache::write(size_t layer, int32_t row, const float* key, const float* value) {
  if (dtype_ == tensor::DType::kBFloat16) {
    auto* target = layers_[layer].data<tensor::BFloat16>() + row * stride();
    ops::round_row(key, d_model_, target);
    return ops::round_row(value, d_model_, target + d_model_);
  }
  float* target = layers_[layer].data<float>() + row * stride();
  std::copy_n(key, d_model_, target);
  std::copy_n(value, d_model_, target + d_model_);
}

void KeyValueCache::grow() {
  const int64_t grown = std::max(kFirstCapacity, 2 * capacity_);
  for (tensor::Tensor& layer : layers_) {
    tensor::Tensor larger = tensor::Tensor::empty({grown, stride()}, dtype_);
    if (capacity_ > 0) {
      larger.rows(0, capacity_).copy_from(layer);
    }
    layer = larger;
  }
  for (int64_t row = grown; row > capacity_; --row) {
    free_.push_back(static_cast<int32_t>(row - 1));
  }
  previous_.resize(static_cast<size_t>(grown));
  needs_.resize(static_cast<size_t>(grown));
  capacity_ = grown;
}

}  // namespace dragoman::decoding
