#include "decoding/text_batches.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "decoding/in_groups.h"

namespace dragoman::decoding {

namespace {

constexpr int64_t kTokensOnCpu = 512, kTokensOnGpu = 8192;
constexpr int64_t kLeastShare = 64;  // of a worker

int64_t most_tokens(std::span<const size_t> lengths, int64_t asked, int workers, tensor::Device device) {
  const int64_t most = asked > 0 ? asked : device.is_host() ? kTokensOnCpu : kTokensOnGpu;
  const int64_t at_once = worker_count(workers, device);
  const auto all = static_cast<int64_t>(std::accumulate(lengths.begin(), lengths.end(), size_t{0}));
  return std::min(most, std::max(kLeastShare, (all + at_once - 1) / at_once));
}

}  // namespace

std::vector<TextBatch> batches_of_texts(std::span<const size_t> lengths, int64_t batch_tokens, int workers,
                                        tensor::Device device) {
  const int64_t most = most_tokens(lengths, batch_tokens, workers, device);
  std::vector<size_t> order(lengths.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater(), [&](size_t text) { return lengths[text]; });
  std::vector<TextBatch> batches;
  int64_t tokens = most;
  for (const size_t text : order) {
    const auto length = static_cast<int64_t>(lengths[text]);
    if (batches.empty() || tokens + length > most) {
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
