#pragma once

#include <cstdint>

#include "kernels/cuda/views.h"

namespace dragoman::kernels::cuda {

/// The losses of rows of logits [N, V]. A block has a row.
struct Losses {
  AnyMatrix logits;  ///< overwritten with the gradients if there is a gradient
  const int32_t* targets;
  Extent extent;
  float label_smoothing;
  bool with_gradient;
  float gradient_scale;
  double* row_losses;       ///< [3, N]: smoothed, nll, and 1 for a correct row
  bool keeps_rows = false;  ///< set by cross_entropy: a row stays in shared memory between its two readings
};
/// Computes the loss of each row, then adds to sums [3] over the rows, in an order that depends on N alone.
void cross_entropy(const Losses& losses, double* sums);

/// The two-pass losses of pairs of rows of logits [2C, V]: row n of the first pass and row C + n.
struct PairLosses {
  Matrix<float> logits;  ///< overwritten with the gradients if there is a gradient
  const int32_t* targets;
  Extent extent;  ///< C and V
  float label_smoothing;
  bool with_gradient;
  float scale_p, scale_q, divergence_scale, reverse;  ///< of kernels::TwoPassRowGradient
  double first, second;                               ///< of kernels::TwoPassWeights
  double* row_losses;                                 ///< [4, C]: the sums of kernels::TwoPassLosses
};
/// Computes the losses of each pair, then adds to sums [4].
void two_pass_cross_entropy(const PairLosses& losses, double* sums);

/// The k largest logits of each row.
struct BestOfRows {
  Matrix<float> logits;
  Extent extent;
  int k;
  float* values;     ///< [N, k]
  int32_t* ids;      ///< [N, k]
  double* log_sums;  ///< [N]
};
void best_of_rows(const BestOfRows& best);

}  // namespace dragoman::kernels::cuda
