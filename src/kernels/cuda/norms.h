#pragma once

#include <cstdint>

#include "kernels/cuda/views.h"

namespace dragoman::kernels::cuda {

/// Returns: the number of float32 that column sums of `arrays` arrays need as scratch.
[[nodiscard]] int64_t column_sum_scratch(const Extent& extent, int64_t arrays);
/// Computes sums += sum of the rows, in an order that depends on the extent alone.
void sum_rows(const AnyMatrix& rows, const Extent& extent, float* scratch, float* sums);

/// A layer norm, of x or of sum = x + dropout(sublayer).
struct Norm {
  Extent extent;
  Matrix<float> x;
  AnyMatrix sublayer;  ///< float32 or bfloat16; null for none
  Mask mask;
  Matrix<float> sum;  ///< written if there is a sublayer
  const float* gain;  ///< null: only the sum is computed
  const float* bias;  ///< null for none
  bool centres;       ///< false: the mean is taken as 0
  float epsilon;
  Matrix<float> y;
  Matrix<float> stats;       ///< mean and rstd of each row
  Matrix<BFloat16> rounded;  ///< null if not requested
};
void layer_norm(const Norm& norm);

/// The backward of a layer norm.
struct NormBackward {
  Extent extent;
  Matrix<float> x, stats;
  const float* gain;
  bool centres;
  Matrix<float> grad_y, grad_x;
  float* grad_gain;
  float* grad_bias;
  Mask mask;
  AnyMatrix grad_dropped;  ///< grad_x * factors of the mask; null if not requested
  float* scratch;          ///< column_sum_scratch(extent, 2)
};
void layer_norm_backward(const NormBackward& norm);

}  // namespace dragoman::kernels::cuda
