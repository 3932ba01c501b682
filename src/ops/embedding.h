#pragma once

#include "ops/packed_weight.h"
#include "ops/types.h"

namespace dragoman::ops {

/// Looks up one row of the table for each token and scales it: output[n] = scale * table[ids[n]].
/// A table without a variable (Weight) is read from its packed copy, with the rounding of that copy.
/// @param table  [V, D] float32 or float64;  @param ids  [N] int32, each in [0, V)
/// @param scale  sqrt(D) in the paper, 1 for none
/// @return [N, D]. No tokens give [0, D].
/// Gradient: table only. Rows are added in the order of the tokens, so the sum is the same in every run.
/// Throws: Error for an id outside the table: "embedding: ids[3] is 12, must be in [0, 10)".
/// Source: Vaswani et al. 2017, section 3.4.
Variable embedding(const Weight& table, const Tensor& ids, float scale);

/// Adds to each row the vector of its position: output[n] = x[n] + table[positions[n]].
/// @param x  [N, D];  @param table  [P, D], sinusoidal (without gradient) or learned, of the dtype of x
/// @param positions  [N] int32, each in [0, P)
/// @return [N, D].   Gradients: x (passed through) and, if required, table.
/// Throws: Error for a position outside the table: "add_positions: positions[0] is 512, must be in [0, 512)".
/// Source: Vaswani et al. 2017, section 3.5.
Variable add_positions(const Variable& x, const Variable& table, const Tensor& positions);

/// Computes the fixed position vectors of the paper in float64, rounded once:
///   PE(pos, 2i) = sin(pos / 10000^(2i / D)),  PE(pos, 2i + 1) = cos(pos / 10000^(2i / D))
/// PE(pos + k) is a linear function of PE(pos), as the paper notes. Most rows are computed from two other rows, without
/// a sine.
/// @return [n_positions, d_model] float32. An odd d_model ends with a sine.
/// Throws: Error for negative sizes.
/// Source: Vaswani et al. 2017, section 3.5.
[[nodiscard]] Tensor sinusoidal_positions(int64_t n_positions, int64_t d_model);

/// Selects rows: output[n] = x[ids[n]], such as the last token of each sentence.
/// @param x  [M, D] float32 or float64;  @param ids  [N] int32, each in [0, M), repeats allowed
/// @return [N, D].   Gradient: x; a row that is selected twice gets the sum of both.
/// Throws: Error for an id outside x: "select_rows: ids[0] is -1, must be in [0, 4)".
Variable select_rows(const Variable& x, const Tensor& ids);

}  // namespace dragoman::ops
