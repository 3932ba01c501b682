#include "models/decoder/key_value_cache.h"

#include <algorithm>

#include "kernels/backends/backend_of.h"

namespace dragoman::models {
namespace {

// Enough for most work, since growing copies everything; rows that are never written take addresses but no memory.
constexpr int64_t kFirstCapacity = 4096;
constexpr int32_t kRun = 16;  // rows that a sentence takes at a time

}  // namespace

int32_t KeyValueCache::take_row(CacheRows& sentence, int32_t previous) {
  if (sentence.free.empty()) {
    if (free_runs_.empty()) {
      grow();
    }
    const int32_t run = free_runs_.back();
    free_runs_.pop_back();
    sentence.runs.push_back(run);
    for (int32_t row = run + kRun; row > run; --row) {
      sentence.free.push_back(row - 1);
    }
  }
  const int32_t row = sentence.free.back();
  sentence.free.pop_back();
  ++rows_in_use_;
  previous_[static_cast<size_t>(row)] = previous;
  needs_[static_cast<size_t>(row)] = 1;
  if (previous >= 0) {
    ++needs_[static_cast<size_t>(previous)];
  }
  return row;
}

void KeyValueCache::release(CacheRows& sentence, int32_t row) {
  while (row >= 0 && --needs_[static_cast<size_t>(row)] == 0) {
    sentence.free.push_back(row);
    --rows_in_use_;
    row = previous_[static_cast<size_t>(row)];
  }
}

void KeyValueCache::release_all(CacheRows& sentence) {
  rows_in_use_ -= static_cast<int64_t>(sentence.runs.size()) * kRun - static_cast<int64_t>(sentence.free.size());
  free_runs_.insert(free_runs_.end(), sentence.runs.begin(), sentence.runs.end());
  sentence.runs.clear();
  sentence.free.clear();
}

void KeyValueCache::write(size_t layer, const tensor::Tensor& rows, const tensor::Tensor& keys,
                          const tensor::Tensor& values) {
  kernels::backend_of(keys).store_cached_rows({keys, values, rows, n_heads_, layers_[layer]});
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
  free_runs_.reserve(static_cast<size_t>(grown / kRun));  // for all of them: freeing asks for no memory
  for (int64_t run = grown - kRun; run >= capacity_; run -= kRun) {
    free_runs_.push_back(static_cast<int32_t>(run));
  }
  previous_.resize(static_cast<size_t>(grown));
  needs_.resize(static_cast<size_t>(grown));
  capacity_ = grown;
}

tensor::DType cache_dtype(const nn::WeightPacking* packing) {
  switch (packing == nullptr ? kernels::Precision::kFloat32 : packing->precision()) {
    case kernels::Precision::kInt8:
      return tensor::DType::kInt8;
    case kernels::Precision::kBFloat16:
      return tensor::DType::kBFloat16;
    default:
      return tensor::DType::kFloat32;
  }
}

}  // namespace dragoman::models
