#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "decoding/options.h"

namespace dragoman::decoding {

/// What one sentence asks for beside the options that it shares with others.
struct SentenceRequest {
  /// Pieces that the translation must begin with; they count towards its length.
  std::vector<int32_t> prefix;
  /// Pieces of the source, the end included: S. Only the coverage penalty reads it.
  int64_t source_length = 0;
  /// Names the sentence to the random numbers, see random_stream.
  uint64_t random_stream = 0;
};

/// A number made of the source pieces, so that what is drawn for a line depends neither on its neighbours nor on its
/// place among them: the same line always gets the same samples, unless the seed changes. FNV-1a, 64 bits.
uint64_t random_stream(std::span<const int32_t> source);

}  // namespace dragoman::decoding
