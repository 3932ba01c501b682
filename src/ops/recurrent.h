#pragma once

#include "ops/recurrent_run.h"
#include "ops/source_attention.h"
#include "ops/step_attention.h"
#include "ops/types.h"

namespace dragoman::ops {

/// What a recurrent layer computes beside its result, without gradients: for pictures.
struct LayerValues {
  CellValues cells;
  Tensor fed = {};      ///< [N, F], what is fed to the cells; undefined if nothing is
  Tensor query = {};    ///< [N, A], what scores the keys of the source; undefined without attention
  Tensor context = {};  ///< [N, C]; undefined without attention
  Tensor sums = {};     ///< [N, F], [c_t, s_t] Wc + b; input feeding alone
};

/// What else a call gives, each null or overwritten.
struct LayerExtras {
  LastState* last = nullptr;      ///< the state behind each sentence. Requires: no sentence is empty
  Tensor* attention = nullptr;    ///< [N, longest source], the weights of each row; layers that attend alone
  LayerValues* values = nullptr;  ///< what the result is made of
};

/// Runs a recurrent layer over ragged rows, in one direction:  h_t = cell(gates_t, h_{t-1} U + b).
/// The inputs were multiplied before, all steps in one product: gates = x W + b. Cells and the order of their gates are
/// PyTorch's, with transposed weights.
/// @param gates  [N, G*H] float32, float64, or bfloat16, which is widened
/// @param offsets  [B + 1] int32: sentence b has rows offsets[b] .. offsets[b + 1]
/// @param initial  the state before the first row of each sentence (the last with Direction::kBackward)
/// @return h [N, H].  The bits of a row depend on its sentence alone, and are those of its rows one call at a time.
/// Saves for backward: gates (shared), and 5*H numbers a row, 6*H for an LSTM.
/// Gradients: gates, initial states, U and b, backward through time.
/// Throws: Error, "recurrent_layer: gates are [8, 12], state weights [5, 15]; must be [N, 15] and [5, 15] for a gru".
/// Source: Cho et al. 2014; Hochreiter and Schmidhuber 1997; Gers et al. 2000.
Variable recurrent_layer(const Variable& gates, const Tensor& offsets, const RecurrentWeights& weights,
                         const RecurrentState& initial, Direction direction, const LayerExtras& extras = {});

/// Runs a recurrent layer whose cell reads what the state before it attends to:
///   c_t = Attention(s_{t-1}),  s_t = cell(gates_t + c_t W_fed, s_{t-1} U + b),  y_t = [s_t, c_t]
/// Arguments and laws are those of recurrent_layer.
/// @param memory  the source of each sentence
/// @return y [N, H + C].  Gradients: also the memory and all weights.
/// Source: Bahdanau et al. 2015, appendix A.2, with the cells of recurrent_layer.
Variable attentive_layer(const Variable& gates, const Tensor& offsets, const AttentiveWeights& weights,
                         const SourceMemory& memory, const RecurrentState& initial, const LayerExtras& extras = {});

/// Runs a recurrent layer that is fed with its attentional vector of the step before:
///   s_t = cell(gates_t + y_{t-1} W_fed, s_{t-1} U + b),  c_t = Attention(s_t),  y_t = tanh([c_t, s_t] Wc + b)
/// @param fed  [B, F], y_0 of each sentence; undefined is zero.   @return y [N, F].   The rest is as in
/// attentive_layer. Source: Luong et al. 2015, sections 3.1 and 3.3.
Variable input_feeding_layer(const Variable& gates, const Tensor& offsets, const AttentiveWeights& weights,
                             const SourceMemory& memory, const RecurrentState& initial, const Variable& fed,
                             const LayerExtras& extras = {});

}  // namespace dragoman::ops
