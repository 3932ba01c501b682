#pragma once

#include <cstdint>

#include "kernels/adam.h"
#include "kernels/cuda/views.h"
#include "kernels/elementwise.h"

namespace dragoman::kernels::cuda {

// Kernels over the elements of contiguous tensors of float32, unless a name says otherwise.

void fill(float* to, float value, int64_t count);
void map(ElementMap map, const float* x, float* y, int64_t count);
/// @param left_step, right_step  0 for an operand of one element, otherwise 1
void map_pairs(PairMap map, const float* left, int64_t left_step, const float* right, int64_t right_step, float* y,
               int64_t count);
void add_in_place(float* sum, const float* part, int64_t count);
void add_in_place(BFloat16* sum, const BFloat16* part, int64_t count);
/// Converts the rows of a matrix; at least one side is bfloat16.
void convert_rows(const AnyMatrix& from, const AnyMatrix& to, const Extent& extent);

/// The memory and scalars of an update of Adam.
struct AdamUpdate {
  float* weights;
  const float* grads;
  float* moment1;
  float* moment2;
  AdamFactors factors;
  const double* clipping;  ///< null, or of clip_factors: its factor replaces that of `factors`; NaN changes nothing
};
void adam(const AdamUpdate& update, int64_t count);
void ema(float* average, const float* weights, float share, int64_t count);

/// Writes factors[0] = clip_factor(norm, clip_norm) and factors[1] = norm of the sum of squares `squares`.
void clip_factors(const double* squares, double clip_norm, double* factors);

/// The terms of a weighted sum.
struct WeightedTerms {
  static constexpr int kMost = 4;
  const double* terms;
  double weights[kMost];
  int count;
};
void weighted_sum(const WeightedTerms& sum, float* y);

/// What a reduction adds up for each element x.
enum class Reduction { kSum, kSumOfSquares, kNotFinite };
/// Returns: the number of partial results that `reduce` needs room for.
[[nodiscard]] int64_t reduction_parts(int64_t count);
/// Writes the sum in float64 to `result`, added in an order that depends on `count` alone.
/// @param parts  [reduction_parts(count)] scratch
void reduce(Reduction reduction, const float* x, int64_t count, double* parts, double* result);

}  // namespace dragoman::kernels::cuda
