#pragma once

#include <vector>

#include "ops/types.h"
#include "support/gradient_check.h"

namespace dragoman::ops {

/// Targets in [0, n_classes) that differ from token to token.
inline Tensor targets_of(int64_t n_tokens, int64_t n_classes) {
  std::vector<int32_t> targets;
  for (int64_t n = 0; n < n_tokens; ++n) {
    targets.push_back(static_cast<int32_t>(n * n % n_classes));
  }
  return Tensor::from(targets, {n_tokens});
}

/// A loss and its gradients, one for each input.
struct Outcome {
  double loss = 0;
  std::vector<Tensor> gradients;
};

/// Computes a loss of `inputs` and walks its tape.
inline Outcome outcome_of(const test_support::Function& function, const std::vector<Tensor>& inputs) {
  std::vector<Variable> variables;
  for (const Tensor& input : inputs) {
    variables.emplace_back(input, true);
  }
  autograd::Tape tape;
  const autograd::TapeScope scope(&tape);
  const Variable loss = function(variables);
  tape.backward(loss);
  Outcome outcome{loss.value().item(), {}};
  for (const Variable& variable : variables) {
    outcome.gradients.push_back(variable.grad());
  }
  return outcome;
}

}  // namespace dragoman::ops
