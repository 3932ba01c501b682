#include "decoding/text_batches.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace dragoman::decoding {

std::vector<TextBatch> batches_of_texts(std::span<const size_t> lengths, int64_t batch_tokens) {
  std::vector<size_t> order(lengths.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater(), [&](size_t text) { return lengths[text]; });
  std::vector<TextBatch> batches;
  int64_t tokens = batch_tokens;
  for (const size_t text : order) {
    const auto length = static_cast<int64_t>(lengths[text]);
    if (batches.empty() || tokens + length > batch_tokens) {
      batches.emplace_back();
      tokens = 0;
    }
    batches.back().push_back(text);
    tokens += length;
  }
  return batches;
}

std::vector<const data::EncoderInput*> batch_of(const std::vector<data::EncoderInput>& inputs, const TextBatch& batch) {
  std::vector<const data::EncoderInput*> chosen;
  for (const size_t number : batch) {
    chosen.push_back(&inputs[number]);
  }
  return chosen;
}

}  // namespace dragoman::decoding
