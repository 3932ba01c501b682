#pragma once

#include <cstdint>

#include "kernels/cuda/views.h"

namespace dragoman::kernels::cuda {

// Kernels over rows [N, D]. "Any" matrices are float32 or bfloat16; the matrices of one call that are Any and say
// nothing else are of one kind.

/// kernels::Activation for kernels, in the same order.
enum class Curve { kNone, kRelu, kGelu, kSilu, kGeluTanh, kReluSquared, kTanh, kSigmoid };

void activation(const AnyMatrix& x, Curve curve, const Mask& mask, const AnyMatrix& y, const Extent& extent);
void activation_backward(const AnyMatrix& saved, const AnyMatrix& grad_y, Curve curve, const Mask& mask,
                         const AnyMatrix& grad_x, const Extent& extent);
/// Computes y = curve(gate) * up * factors of the mask.
void gated_activation(const AnyMatrix& gate, const AnyMatrix& up, Curve curve, const Mask& mask, const AnyMatrix& y,
                      const Extent& extent);

/// The backward of gated_activation. The gradients of gate and up are overwritten.
struct GatedBackward {
  AnyMatrix gate, up, grad_y, grad_gate, grad_up;
  Curve curve;
  Mask mask;
  Extent extent;
};
void gated_activation_backward(const GatedBackward& gated);

/// Rotates the pairs (i, i + width/2) of each head.  @param extent  of x
/// @param table  [P, width] the cosines of width/2 angles, then their sines;  @param sign  -1 for the negative angles
void rotate(const AnyMatrix& x, const int32_t* positions, const Matrix<float>& table, int64_t width, float sign,
            const AnyMatrix& y, const Extent& extent);

/// @param y  may be of another kind than x, and may be x
void dropout_rows(const AnyMatrix& x, const Mask& mask, const AnyMatrix& y, const Extent& extent);
void dropout_whole_rows(const Matrix<float>& x, const Mask& mask, const Matrix<float>& y, const Extent& extent);
/// @param rows  any
void add_to_rows(const float* row, const AnyMatrix& rows, const Extent& extent);
void rows_accumulate(const Matrix<float>& from, const Matrix<float>& to, const Extent& extent);

/// Computes y[n] = scale * table[ids[n]].
void gather_rows(const Matrix<float>& table, const int32_t* ids, float scale, const Matrix<float>& y,
                 const Extent& extent);

/// Rows of a batch by the table row that they are added to.
struct ScatterPlan {
  const int32_t* ids;     ///< [U] the different table rows; ids without batch rows may follow
  const int32_t* starts;  ///< [U + 1] where the batch rows of each begin in `rows`
  const int32_t* rows;    ///< the batch rows, in rising order for each table row
  int64_t count;          ///< U
};
/// Computes table[ids[u]] += scale * sum of its batch rows, in rising order. One block has all of one table row.
void scatter_rows(const Matrix<float>& rows, const ScatterPlan& plan, float scale, const Matrix<float>& table,
                  int64_t columns);

void softmax(const Matrix<float>& x, bool logarithm, const Matrix<float>& y, const Extent& extent);
void softmax_backward(const Matrix<float>& saved, bool logarithm, const Matrix<float>& grad_y,
                      const Matrix<float>& grad_x, const Extent& extent);

}  // namespace dragoman::kernels::cuda
