#pragma once

#include <cstdint>
#include <vector>

namespace dragoman::decoding {

/// How much each target piece looked at each source piece when it was generated.
struct Alignment {
  int64_t target_length = 0;   ///< T, pieces without the end
  int64_t source_length = 0;   ///< S, pieces and the end
  std::vector<float> weights;  ///< [T, S], each row sums to 1
  std::vector<int32_t>
      source_of_target;  ///< [T] the source piece (not the end) with the largest weight, lowest of equals
};

/// Returns: the alignment that has these weights.
/// @param weights  [T, S] cross-attention, row t of the step that generated piece t;  @param source_length  S, 1 or
/// more
Alignment alignment_of(std::vector<float> weights, int64_t source_length);

}  // namespace dragoman::decoding
