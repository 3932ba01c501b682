#include "decoding/search/attention_rows.h"

#include <algorithm>
#include <numeric>

namespace dragoman::decoding {

std::vector<int> attention_layers(const SearchOptions& options, const SentenceRequest& request) {
  std::vector<int> layers;
  if (options.ranking.coverage_penalty > 0.0) {
    layers.push_back(kLastLayer);
  }
  if (request.alignment_layer && std::ranges::find(layers, *request.alignment_layer) == layers.end()) {
    layers.push_back(*request.alignment_layer);
  }
  return layers;
}

void AttentionRows::add_step(int layer, size_t count, const float* weights, int64_t stride) {
  if (layer_ != layer) {
    return;
  }
  first_ = count_;
  count_ += count;
  for (size_t row = 0; row < count; ++row) {
    rows_.insert(rows_.end(), weights, weights + source_length_);
    weights += stride;
  }
}

void AttentionRows::add_prefix(const ScoredPrefix& prefix) {
  for (const auto& [layer, rows] : prefix.attention) {
    add_step(layer, prefix.ids.size(), rows.data(), source_length_);
  }
}

void AttentionRows::align(const std::vector<int32_t>& numbers, Hypothesis& hypothesis) const {
  if (rows_.empty()) {
    return;
  }
  std::vector<float> weights;  // [T, S]
  weights.reserve(numbers.size() * static_cast<size_t>(source_length_));
  for (const int32_t number : numbers) {
    const auto row = rows_.begin() + number * source_length_;
    weights.insert(weights.end(), row, row + source_length_);
  }
  hypothesis.alignment = alignment_of(std::move(weights), source_length_);
}

void AttentionRows::align(Hypothesis& hypothesis) const {
  std::vector<int32_t> numbers(hypothesis.ids.size());
  std::iota(numbers.begin(), numbers.end(), 0);
  align(numbers, hypothesis);
}

}  // namespace dragoman::decoding
