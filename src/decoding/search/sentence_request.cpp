#include "decoding/search/sentence_request.h"

#include "base/hash.h"

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
  base::Fnv1a64 hash;
  for (const int32_t id : source) {
    hash.add_little_endian(static_cast<uint32_t>(id));
  }
  return hash.value();
}

}  // namespace dragoman::decoding
