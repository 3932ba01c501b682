#pragma once

#include <cstdint>

#include "kernels/cpu/gemm/packed_matrix.h"
#include "kernels/cpu/output/best_logits.h"

namespace dragoman::kernels {

/// Says which of  logits = x W^T + b  in float32 can be the largest of their row, by a product in int8, so that only
/// those need be computed in float32. Where the processor multiplies int8 several times as fast, a choice among all
/// tokens costs little more than the product in int8, and is that of float32.
///
/// With x^ and w^ the row and the weight of a token as int8 rounds them, by the inequality of Cauchy and Schwarz
///   |x w - x^ w^| = |(x - x^) w^ + x (w - w^)| <= |x - x^| |w^| + |x| |w - w^|,
/// and sums in float32 are off by at most D 2^-24 |x| |w|. So a token whose logit in int8 is further below the largest
/// than twice that, with the largest lengths of all w^ and w - w^, is not the largest in float32 either.
///
/// Memory: D * V bytes. Safe for use by any number of threads at once.
class LogitScreen {
 public:
  /// @param matrix  [D, V] float32
  explicit LogitScreen(const PackedMatrix& matrix);

  /// Whether int8 is so much faster here than float32 that it pays.
  static bool pays();

  /// Fills the rows of `best` with k = first + 1 entries: the logits of the tokens before `first` and the largest of
  /// the others, the lowest token of equals; no log-sum-exp.
  /// @param x  [R, D];  @param matrix  the one that this was made of;  @param bias  [V], undefined for none
  /// The logits have the bits of `matrix.multiply`. A row that is not finite, or of which very many tokens can be the
  /// largest, is multiplied by the whole matrix.
  void best(const Tensor& x, const PackedMatrix& matrix, const Tensor& bias, int32_t first, BestLogits& best) const;

  /// How far a logit of a row x [D] is from its logit by the product in int8, at most, when no bias is larger than
  /// this. NaN or infinity where an element of the row or of a weight is not finite.
  double error_of(const float* x, double largest_bias) const;
  /// [D, V] int8.
  const PackedMatrix& rounded() const { return rounded_; }

 private:
  PackedMatrix rounded_;
  double kept_ = 0;  // the largest |w^|
  double lost_ = 0;  // the largest |w - w^|
};

}  // namespace dragoman::kernels
