#include "decoding/key_value_cache.h"

#include <algorithm>
#include <cstring>

namespace dragoman::decoding {
namespace {

constexpr int64_t kFirstCapacity = 256;

}  // namespace

int32_t KeyValueCache::take_row() {
  if (free_.empty()) {
    grow();
  }
  const int32_t row = free_.back();
  free_.pop_back();
  return row;
}

void KeyValueCache::give_back(std::span<const int32_t> rows) {
  free_.insert(free_.end(), rows.rbegin(), rows.rend());
}

void KeyValueCache::write(size_t layer, int32_t row, const float* key, const float* value) {
  float* target = layers_[layer].data<float>() + row * stride();
  std::copy_n(key, d_model_, target);
  std::copy_n(value, d_model_, target + d_model_);
}

void KeyValueCache::grow() {
  const int64_t grown = std::max(kFirstCapacity, 2 * capacity_);
  for (tensor::Tensor& layer : layers_) {
    tensor::Tensor larger = tensor::Tensor::empty({grown, stride()});
    if (capacity_ > 0) {
      larger.rows(0, capacity_).copy_from(layer);
    }
    layer = larger;
  }
  for (int64_t row = grown; row > capacity_; --row) {
    free_.push_back(static_cast<int32_t>(row - 1));
  }
  capacity_ = grown;
}

}  // namespace dragoman::decoding
