#pragma once

#include "decoding/search/options.h"

namespace dragoman::interop {

/// Returns the options of `model.generate` with num_beams, length_penalty 1, max_length and an end that is forced.
/// @param max_length  with the start and the forced end, as transformers counts
inline decoding::SearchOptions transformers_search(int beam_size, int max_length) {
  decoding::SearchOptions options;
  options.beam_size = beam_size;
  options.ranking.length_penalty = decoding::LengthPenalty::kLength;
  options.ranking.alpha = 1.0;
  options.beam.rule = decoding::BeamRule::kFull;
  options.length.min_length = 0;
  options.length.max_length_ratio = 0.0;
  options.length.max_length_extra = max_length - 2;
  return options;
}

}  // namespace dragoman::interop
