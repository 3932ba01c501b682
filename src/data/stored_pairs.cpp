#include "data/stored_pairs.h"

namespace dragoman::data {

void StoredPairs::add(SentencePair pair, std::string place) {
  statistics_.source_tokens += static_cast<uint64_t>(pair.source_tokens());
  statistics_.target_tokens += static_cast<uint64_t>(pair.target_tokens());
  pairs_.push_back(std::move(pair));
  places_.push_back(std::move(place));
  statistics_.kept = pairs_.size();
}

Examples::Window StoredPairs::window(std::span<const uint32_t> indices, uint64_t /*epoch*/) const {
  Window window;
  for (size_t position = 0; position < indices.size(); ++position) {
    const SentencePair& pair = pairs_[indices[position]];
    window.sizes.push_back({position, pair.source_tokens(), pair.target_tokens()});
  }
  return window;
}

}  // namespace dragoman::data
