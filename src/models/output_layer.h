#pragma once

#include "ops/best_logits.h"
#include "ops/packed_weight.h"
#include "ops/types.h"

namespace dragoman::models {

using autograd::Variable;

/// The output layer of a model:  logits = hidden weight^T + bias.
struct OutputLayer {
  ops::Weight weight;  ///< [V, D], with its packed copy where there is one
  Variable bias;       ///< [V]; undefined for none

  /// @param hidden  [N, D]
  /// Returns: [N, V].
  Variable logits(const Variable& hidden) const;
  /// The k largest of each row of logits and its log-sum-exp, without storing the logits.
  void best(const Variable& hidden, int k, kernels::BestLogits& best) const;
};

}  // namespace dragoman::models
