#pragma once

#include <optional>

#include "ops/recurrent_run.h"
#include "ops/source_attention.h"

namespace dragoman::ops {

/// The parts of a recurrent layer that attends to the source in each step.
struct AttentiveWeights {
  RecurrentWeights cell;
  Weight fed{Variable()};      ///< [F, G*H]: what is fed to the cell is multiplied with it
  Weight query{Variable()};    ///< [H, A] of additive scores, W in q = s W; not read otherwise
  Variable score;              ///< [A] of additive scores, v; not read otherwise
  Weight combine{Variable()};  ///< [C + H, F] of input feeding, Wc; not read otherwise
  Variable combine_bias;       ///< [F] of input feeding; not read otherwise
};

/// The attention of a recurrent layer that attends in each step: projects the states of a step to queries, attends, and
/// goes back.
class StepAttention {
 public:
  StepAttention(const StepPlan& plan, const AttentiveWeights& weights, const SourceMemory& memory, DType dtype);

  /// @param states  [n, H] of one step;  @param context  [n, C], overwritten
  void forward(int64_t step, const Tensor& states, Tensor context);
  void begin_backward();
  /// Adds to the gradient of the states.  @param grad_context  [n, C];  @param grad_states  [n, H]
  void backward(int64_t step, const Tensor& states, const Tensor& grad_context, Tensor grad_states);
  /// Hands gradients on.  @param states  [N, H] of all steps, in the order of places
  void finish_backward(const Tensor& states);

  /// Returns: [N, longest source], the weights of ragged rows.
  Tensor attention() const { return gathered(attention_, plan_.places()); }
  /// Returns: [N, A], the projected states of ragged rows; undefined for multiplicative scores.
  Tensor queries() const { return is_additive() ? gathered(queries_, plan_.places()) : Tensor(); }
  int64_t context_width() const { return memory_.rows.empty() ? 0 : memory_.rows.front().values.dim(1); }

 private:
  bool is_additive() const { return memory_.kind == ScoreKind::kAdditive; }
  Tensor score() const { return is_additive() ? weights_.score.value() : Tensor(); }
  Tensor query(int64_t step, const Tensor& states) const { return is_additive() ? plan_.part(queries_, step) : states; }

  StepPlan plan_;
  AttentiveWeights weights_;
  SourceMemory memory_;
  Tensor queries_;    // [N, A] of additive scores, in the order of places
  Tensor attention_;  // [N, longest source], in the order of places
  Tensor grad_queries_;
  std::optional<MemoryGradients> gradients_;
};

}  // namespace dragoman::ops
