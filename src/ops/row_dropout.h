#pragma once

#include "ops/dropout.h"

namespace dragoman::ops {

/// Sets random rows to 0 and scales the others so that the expected value stays: output[n] = f[n] * x[n]. The factor
/// f[n] is the factor of `dropout` for element (row n, column 0), which is 0 or 1 / (1 - probability). On embeddings
/// this is word dropout: a dropped word leaves only its position.
/// @param x  [N, D] float32 or float64; rows may be strided
/// @return [N, D]; x itself when the probability is 0.   Saves nothing for backward.   Gradients: x.
/// Throws: Error, "row_dropout: probability is 1.5, must be in [0, 1)".
/// Source: Sennrich et al. 2016, "Edinburgh Neural Machine Translation Systems for WMT 16". Their Nematus drops each
/// occurrence of a word independently and scales while training. Gal and Ghahramani 2016, "A Theoretically Grounded
/// Application of Dropout in Recurrent Neural Networks", drop all occurrences of a word together.
Variable row_dropout(const Variable& x, const Dropout& dropout);

}  // namespace dragoman::ops
