#include "decoding/search/alignment.h"

#include <algorithm>

namespace dragoman::decoding {

Alignment alignment_of(std::vector<float> weights, int64_t source_length) {
  Alignment alignment;
  alignment.target_length = static_cast<int64_t>(weights.size()) / source_length;
  alignment.source_length = source_length;
  alignment.weights = std::move(weights);
  const int64_t pieces = std::max<int64_t>(source_length - 1, 1);
  for (auto row = alignment.weights.begin(); row != alignment.weights.end(); row += source_length) {
    alignment.source_of_target.push_back(static_cast<int32_t>(std::max_element(row, row + pieces) - row));
  }
  return alignment;
}

}  // namespace dragoman::decoding
