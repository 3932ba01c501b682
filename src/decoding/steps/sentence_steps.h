#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "decoding/search/step_model.h"

namespace dragoman::decoding {

/// A step model that reads source sentences itself.
class SentenceSteps : public StepModel {
 public:
  /// Encodes sentences together and gives each a slot. @param sentences  source ids, the end included; none empty
  virtual std::vector<int32_t> add(std::span<const std::span<const int32_t>> sentences) = 0;
  virtual size_t slots_in_use() const = 0;
};

}  // namespace dragoman::decoding
