#pragma once

#include <cstdint>

#include "kernels/cpu/gemm/packed_matrix.h"
#include "kernels/cpu/output/best_logits.h"

namespace dragoman::kernels {

/// Finds which of  logits = x W^T + b  in float32 can be the largest of their row, by a product in int8. Only those
/// logits are then computed in float32. If the processor multiplies int8 several times as fast as float32, a choice
/// among all tokens costs little more than the product in int8. The choice is the choice of float32.
///
/// Let x^ and w^ be the row and the weight of a token, rounded to int8. By the inequality of Cauchy and Schwarz
///   |x w - x^ w^| = |(x - x^) w^ + x (w - w^)| <= |x - x^| |w^| + |x| |w - w^|,
/// and sums in float32 are off by at most D 2^-24 |x| |w|. Take the sum of both bounds, with the largest lengths of all
/// w^ and w - w^. A token whose int8 logit is more than twice this sum below the largest is not the largest in float32.
///
/// Memory: D * V bytes. Threads: any number may use one screen at once.
class LogitScreen {
 public:
  /// @param matrix  [D, V] float32
  explicit LogitScreen(const PackedMatrix& matrix);

  /// Returns: whether int8 is fast enough on this machine for a screen to save time.
  static bool pays();

  /// Fills the rows of `best` with k = first + 1 entries: the logits of the tokens before `first`, and the largest
  /// logit of the other tokens. Of equal logits the lowest token counts. No log-sum-exp is computed.
  /// @param x  [R, D];  @param matrix  the matrix of the constructor;  @param bias  [V], undefined for none
  /// The logits have the bits of `matrix.multiply`. A row is multiplied by the whole matrix if it is not finite, or if
  /// very many of its tokens can be the largest.
  void best(const Tensor& x, const PackedMatrix& matrix, const Tensor& bias, int32_t first, BestLogits& best) const;

  /// Returns: the largest possible difference between a logit of row x [D] and its int8 logit, if no bias is larger
  /// than `largest_bias`. The result is NaN or infinity if an element of the row or of a weight is not finite.
  double error_of(const float* x, double largest_bias) const;
  /// Returns: the matrix [D, V] in int8.
  const PackedMatrix& rounded() const { return rounded_; }

 private:
  PackedMatrix rounded_;
  double kept_ = 0;  // the largest |w^|
  double lost_ = 0;  // the largest |w - w^|
};

}  // namespace dragoman::kernels
