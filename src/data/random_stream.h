#pragma once

#include <cstdint>

#include "base/random.h"

namespace dragoman::data {

/// What a random stream of this folder is for; the values are part of the meaning of a seed and never change.
enum class StreamPurpose : uint32_t {
  kLineOrder = 1,
  kBatchOrder = 2,
  kSourceSampling = 3,
  kTargetSampling = 4,
  kTextShift = 5,
  kMasks = 6,
  kSpans = 8,
  kPairGroups = 9
};

/// The stream number for one purpose, epoch and index (line or window), for base::Random(seed, stream).
inline uint64_t random_stream(StreamPurpose purpose, uint64_t epoch, uint64_t index) {
  const auto words = base::philox4x32({static_cast<uint32_t>(index), static_cast<uint32_t>(index >> 32),
                                       static_cast<uint32_t>(epoch), static_cast<uint32_t>(purpose)},
                                      {static_cast<uint32_t>(epoch >> 32), 0});
  return static_cast<uint64_t>(words[1]) << 32 | words[0];
}

}  // namespace dragoman::data
