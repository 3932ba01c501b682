#pragma once

#include <cstdint>
#include <span>

#include "tensor/tensor.h"

namespace dragoman::decoding {

/// One hypothesis that asks for its next token.
struct StepRow {
  int32_t slot;      ///< the sentence
  int32_t parent;    ///< the hypothesis it extends: its place among the rows this slot had in the step before
                     ///< (0 in the first step)
  int32_t token_id;  ///< its latest token, begin of sentence in the first step
};

/// What a search needs of a model: the next token's logits. Searches are tested with tables written by hand.
class StepModel {
 public:
  virtual ~StepModel() = default;
  /// Feeds one token to every hypothesis. A step names all hypotheses that live on in each slot it names; rows of
  /// one slot stand together.
  /// @return logits [R, V] float32, in the order of `rows`; the caller may write into them
  virtual tensor::Tensor step(std::span<const StepRow> rows) = 0;
  /// Forgets a sentence; its slot may then be given to another.
  virtual void remove(int32_t slot) = 0;
};

}  // namespace dragoman::decoding
