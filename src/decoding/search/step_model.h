#pragma once

#include <cstdint>
#include <span>

#include "models/generation.h"
#include "ops/best_logits.h"
#include "tensor/tensor.h"

namespace dragoman::decoding {

using models::kLastLayer;
using models::StepRow;

/// What a search needs of a model: the next token's logits. Searches are tested with tables written by hand.
class StepModel {
 public:
  virtual ~StepModel() = default;
  /// Feeds one token to every hypothesis. A step names all hypotheses that live on in each slot it names; rows of
  /// one slot stand together.
  /// @return logits [R, V] float32, in the order of `rows`; the caller may write into them
  virtual tensor::Tensor step(std::span<const StepRow> rows) = 0;
  /// The same step for searches that look at the likeliest tokens alone.
  /// @param best  receives the k largest logits of each row and its log-sum-exp: of those of `step`, bit for bit
  virtual void step_best(std::span<const StepRow> rows, int k, kernels::BestLogits& best);
  /// Computes one step and gives both results, for batches that mix the two kinds of search.
  virtual tensor::Tensor step_and_best(std::span<const StepRow> rows, int k, kernels::BestLogits& best);
  /// From now on the hypotheses of a slot may use these tokens only, rising ids: the logits of all others are minus
  /// infinity, and log-sum-exps are over those alone. At most once, before the slot's first step.
  /// Throws Error where the model cannot: "step model: cannot be restricted to some tokens".
  virtual void restrict(int32_t slot, std::span<const int32_t> ids);
  /// Feeds several tokens to the only hypothesis of a slot that has had no step yet; it then goes on as if they had
  /// been fed by as many steps. @return logits [ids.size(), V], a row for each
  virtual tensor::Tensor prefill(int32_t slot, std::span<const int32_t> ids);
  /// From now on `attention` is wanted of these layers alone.
  virtual void want_attention(std::span<const int> /*layers*/) {}
  /// Returns: the cross-attention of a layer in the last step or prefill (models::Generation::attention).
  virtual tensor::Tensor attention(int /*layer*/) const { return {}; }
  /// Forgets a sentence; its slot may then be given to another.
  virtual void remove(int32_t slot) = 0;
};

}  // namespace dragoman::decoding
