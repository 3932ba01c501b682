#pragma once

#include <cstdint>

namespace dragoman::ops {

/// The k largest numbers of a row in falling order, equal numbers by rising index.
/// @param row  n float32;  @param k  in [1, n];  @param values, ids  k entries each, overwritten
/// NaN counts as smaller than everything. One pass: most of the row costs one vector comparison.
/// Throws Error: "top_k: k is 5, must be in [1, 4]".
void top_k(const float* row, int64_t n, int k, float* values, int32_t* ids);

/// Index of the largest number, the lowest of equals. n >= 1; throws Error for an empty row.
int32_t argmax(const float* row, int64_t n);

/// log sum_j exp(row[j]), shifted by the largest so that it never overflows; -infinity for n = 0 or a row of -infinity.
double log_sum_exp(const float* row, int64_t n);

}  // namespace dragoman::ops
