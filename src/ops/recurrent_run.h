#pragma once

#include "kernels/recurrent.h"
#include "ops/packed_weight.h"
#include "ops/step_plan.h"
#include "ops/types.h"

namespace dragoman::ops {

using kernels::CellKind;

/// The weights of a recurrent layer that the state goes through; the inputs were multiplied before.
struct RecurrentWeights {
  CellKind cell;
  Weight state;   ///< [H, G*H], U
  Variable bias;  ///< [G*H], b of h U + b
};

/// The state of a recurrent layer for each sentence. Undefined parts are zero.
struct RecurrentState {
  Variable hidden;  ///< [B, H]
  Variable cell;    ///< [B, H], LSTM alone
};

/// The state behind the last row of each sentence, without gradients: what decoding goes on from.
struct LastState {
  Tensor hidden;  ///< [B, H]
  Tensor cell;    ///< [B, H], LSTM alone
};

/// What the cells of a layer compute in each row, without gradients: for pictures.
struct CellValues {
  Tensor state_sums;   ///< [N, G*H], h U + b
  Tensor fed_sums;     ///< [N, G*H], what is fed times its weight; undefined if nothing is fed
  Tensor gates;        ///< [N, G*H], behind their functions: r, z, n of a GRU; i, f, g, o of an LSTM
  Tensor before;       ///< [N, H], h
  Tensor state;        ///< [N, H], h'
  Tensor cell_before;  ///< [N, H], c of an LSTM
  Tensor cell;         ///< [N, H], c' of an LSTM
};

/// Runs the cells of one recurrent layer, a step at a time, forward and backward through time. Ops call it: with
/// nothing between the steps (recurrent_layer), or with attention between them.
class RecurrentRun {
 public:
  /// @param gates  [N, G*H], x W + b of ragged rows, float32 or float64
  /// @param output  [N, H], which the steps fill; a view may be wider rows' columns
  RecurrentRun(const StepPlan& plan, const RecurrentWeights& weights, const RecurrentState& initial,
               const Tensor& gates, Tensor output);

  /// Keeps the sums of all steps for `values`. Requires: no step was computed.
  void keep_sums();
  /// Returns: the values of ragged rows. Requires: keep_sums was called, and all steps were computed.
  CellValues values() const;
  /// Returns: [n, H], the states before a step, of which the step before it was computed.
  Tensor hidden_before(int64_t step) const { return plan_.part(before_, step); }
  /// Returns: [N, H], the states before all steps, in the order of places.
  const Tensor& states_before() const { return before_; }
  /// Computes one step.  @param fed_gates  [n, G*H] added to the gates of the input; null for none
  void forward(int64_t step, const Tensor* fed_gates);
  LastState last_state() const;

  /// Begins the backward: steps follow from the last to the first.  @param grad_output  [N, H] of ragged rows
  void begin_backward(const Tensor& grad_output);
  /// Returns: [n, H], the gradient of the states behind a step from the steps after it, which the caller may add to.
  Tensor grad_after(int64_t step) const { return grad_hidden_.rows(0, plan_.active(step)); }
  /// Computes the gradients of one step. After it, grad_after of the step holds the gradient of the states before it.
  void backward(int64_t step);
  /// Hands the gradients of weights and initial states on. Returns: [N, G*H], the gradient of the gates.
  Tensor finish_backward();
  const Tensor& grad_gates() const { return grad_gates_; }

  const StepPlan& plan() const { return plan_; }
  const Tensor& output() const { return output_; }

 private:
  Tensor cell_before(int64_t step) const;
  void keep_sums_of(int64_t step, const Tensor& state_gates, const Tensor* fed_gates);

  StepPlan plan_;
  RecurrentWeights weights_;
  RecurrentState initial_;
  Tensor gates_, output_;
  int64_t width_;       // H
  Tensor before_;       // [N, H], the state before each place
  Tensor cells_;        // [N, H], c behind each place; undefined for a GRU
  Tensor first_cell_;   // [B, H], sorted
  Tensor saved_;        // [N, 4*H]
  Tensor state_gates_;  // [B, G*H], of the step under way
  Tensor state_sums_;   // [N, G*H] of places, if they are kept
  Tensor fed_sums_;     // [N, G*H] of places, if they are kept and there are such
  Tensor grad_output_, grad_hidden_, grad_cell_, grad_gates_, grad_state_gates_;
};

}  // namespace dragoman::ops
