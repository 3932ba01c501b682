#include "decoding/search/sentence_request.h"

namespace dragoman::decoding {

std::optional<FinishReason> SentenceRequest::stop_reason() const {
  if (cancel.stop_requested()) {
    return FinishReason::kCancelled;
  }
  if (deadline && std::chrono::steady_clock::now() >= *deadline) {
    return FinishReason::kDeadline;
  }
  return std::nullopt;
}

uint64_t random_stream(std::span<const int32_t> source) {
  uint64_t hash = 0xCBF29CE484222325ULL;
  for (const int32_t id : source) {
    for (int byte = 0; byte < 4; ++byte) {
      hash = (hash ^ ((static_cast<uint32_t>(id) >> (8 * byte)) & 0xFFU)) * 0x100000001B3ULL;
    }
  }
  return hash;
}

}  // namespace dragoman::decoding
