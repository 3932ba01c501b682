#pragma once

#include <cstdint>

#include "kernels/cuda/views.h"

namespace dragoman::kernels::cuda {

// Products of rows x [M, K] with weights in int8. A row of x and a column of W have a scale each and int8 values, in
// rows of K' values: K rounded up to a multiple of 16, with zeros beyond.

/// Rows in int8.
struct Int8Rows {
  const int8_t* values = nullptr;  ///< [M, K']
  const float* scales = nullptr;   ///< [M]
};

/// Rounds rows of x to int8: the scale of a row makes its largest magnitude 127.
/// @param values  [M, padded], zeros past the columns of x
void quantise_rows(const Matrix<float>& x, const Extent& extent, int8_t* values, int64_t padded, float* scales);

/// What becomes of the sums of a product, which are exact: y = sum * (scale of the row * scale of the column) + bias,
/// of which the ReLU may be taken.
struct Int8Epilogue {
  const float* row_scales = nullptr;     ///< [M]
  const float* column_scales = nullptr;  ///< [N]
  const float* bias = nullptr;           ///< [N], null for none
  bool relu = false;
  Matrix<float> y;  ///< [M, N]
  Extent extent;    ///< M and N
};

/// Products of fewer rows read each weight once, whatever the number of rows.
inline constexpr int64_t kFewRows = 8;

/// Computes a product and its epilogue: for at most kFewRows rows, with a warp for each column; for more rows, where
/// cuBLASLt has no kernel, with a thread for each element.
/// @param columns  of W, [N, padded]
void multiply_int8(const Int8Rows& rows, const Int8Rows& columns, int64_t padded, const Int8Epilogue& epilogue);

/// Computes the epilogue of sums [M, stride].
void finish_int8(const int32_t* sums, int64_t stride, const Int8Epilogue& epilogue);

/// Computes y[n] = scale * row ids[n] of a table in int8.
void gather_int8_rows(const Int8Rows& table, int64_t padded, const int32_t* ids, float scale, const Matrix<float>& y,
                      const Extent& extent);

}  // namespace dragoman::kernels::cuda
