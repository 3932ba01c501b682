#pragma once

#include "ops/types.h"

namespace dragoman::ops {

/// Computes the mean of the rows of each text: means[b] = sum of x[n] for n in [offsets[b], offsets[b + 1]) / their
/// number. A mean is added in float64 in the order of the rows, so a text has the same bits alone and in any batch.
/// @param x  [N, D] float32 or float64;  @param offsets  [B + 1] int32, from 0 to N;  @return [B, D]
/// Gradient: x.
/// Throws: Error for an empty text, "mean_of_texts: text 3 has no rows, of which there is no mean".
/// Source: Reimers and Gurevych 2019, "Sentence-BERT", section 3.
Variable mean_of_texts(const Variable& x, const Tensor& offsets);

/// Divides each row by its length: y[n] = x[n] / max(|x[n]|, 1e-12). The product of two such rows is their cosine.
/// @param x  [N, D] float32 or float64;  @return [N, D]
/// Saves for backward: nothing beside x. A row of zeros stays one; its gradient is only scaled.
Variable unit_rows(const Variable& x);

}  // namespace dragoman::ops
