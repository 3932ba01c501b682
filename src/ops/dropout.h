#pragma once

#include <cstdint>

#include "autograd/variable.h"

namespace dragoman::ops {

using autograd::Variable;
using tensor::Tensor;

/// Which elements an op drops. The mask is a pure function of these fields and the place (row, column), so it is
/// regenerated in the backward instead of stored, and does not depend on threads, devices or batch neighbours.
///   element (row r, column c) is kept iff u16 >= round(probability * 65536), where u16 is half-word c % 8 (low half of
///   each word first) of philox4x32 with counter {c / 8, first_row + r (mod 2^32), site, step} and key = seed (low,
///   high word). Kept values are multiplied by 65536 / (65536 - round(probability * 65536)).
/// Source: Srivastava et al. 2014, in the inverted form (scaled while training); Salmon et al. 2011 for Philox.
struct Dropout {
  float probability = 0;  ///< of dropping, in [0, 1); 0 = the op does nothing
  uint64_t seed = 0;      ///< of the whole run
  uint32_t step = 0;      ///< training step
  uint32_t site = 0;      ///< which dropout of the model
  int64_t first_row = 0;  ///< row number of row 0 in the whole batch, for parts of a batch
};

/// Drops elements at random and scales the others so that the expected value stays.
/// @param x  [N, D]  float32 or float64; rows may be strided
/// @return [N, D]; x itself when the probability is 0.   Saves nothing for backward.   Gradients: x.
/// Throws Error: "dropout: probability is 1.5, must be in [0, 1)".
Variable dropout(const Variable& x, const Dropout& dropout);

/// The factors of one row: scales[c] is 0 for a dropped element, else the scale of kept values, c < columns.
void dropout_row_scales(const Dropout& dropout, int64_t row, int64_t columns, float* scales);

/// y = x * scales, row by row.  @param x, y  [N, D] float32, may be strided; y may be x, or be bfloat16.
void dropout_rows(const Tensor& x, const Dropout& dropout, Tensor& y);

/// Throws Error unless the probability is in [0, 1); `op` starts the message.
void check_dropout(const Dropout& dropout, const char* op);

}  // namespace dragoman::ops
