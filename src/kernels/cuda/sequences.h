#pragma once

#include <cstdint>

#include "kernels/cuda/views.h"

namespace dragoman::kernels::cuda {

// Kernels over the rows of sentences and texts, and over columns, in float32. `offsets` [B + 1] are in the memory of
// the device.

/// kernels::ScanForward; `initial.data` may be null.
struct Scan {
  Matrix<float> keep, x, initial, y;
  const int32_t* offsets;
  int64_t sentences, columns;
};
void scan(const Scan& scan);
/// kernels::ScanBackward.
struct ScanGradients {
  Matrix<float> grad_y, grad_keep, grad_x;
};
void scan_backward(const Scan& scan, const ScanGradients& gradients);

/// Writes sums[0] = sum_n x[n] and sums[1] = sum_n x[n] * y[n], in float64, added in an order that depends on the
/// number of rows alone.
void column_products(const Matrix<float>& x, const Matrix<float>& y, const Extent& extent, double* sums);
/// kernels::ColumnMap; `x.data` may be null.
struct MapOfColumns {
  Matrix<float> x, z;
  const float *a, *b, *mean, *c;
  Matrix<float> y;
};
void map_columns(const MapOfColumns& map, const Extent& extent);

/// Rows of texts [N, D], and a row for each text [B, D].
struct Texts {
  Matrix<float> rows, of_texts;
  const int32_t* offsets;
  int64_t texts, columns;
};
void mean_of_texts(const Texts& texts);
void mean_of_texts_backward(const Texts& texts);
/// Divides each row by its length, or by `least` if it is shorter.
void unit_rows(const Matrix<float>& x, float least, const Matrix<float>& y, const Extent& extent);
void unit_rows_backward(const Matrix<float>& x, const Matrix<float>& grad_y, float least, const Matrix<float>& grad_x,
                        const Extent& extent);

/// kernels::RecurrentCellForward; `fed_gates.data` may be null.
struct CellStep {
  bool is_gru;
  Matrix<float> gates, fed_gates, state_gates;
  const int32_t* rows;
  Matrix<float> hidden, cell, saved, output, next_hidden, next_cell;
  int64_t sentences, going_on, width;  ///< n, m, H
};
void recurrent_cell(const CellStep& step);
/// kernels::RecurrentCellBackward.
struct CellStepBackward {
  bool is_gru;
  Matrix<float> saved;
  const int32_t* rows;
  Matrix<float> hidden, cell, next_cell, grad_output, grad_hidden, grad_cell, grad_gates, grad_state_gates;
  int64_t sentences, width;
};
void recurrent_cell_backward(const CellStepBackward& step);

}  // namespace dragoman::kernels::cuda
