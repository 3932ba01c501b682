#pragma once

#include <cstdint>

namespace dragoman::ops {

/// The lowest index in [begin, n) with row[index] > threshold; n if there is none.
int64_t first_above(const float* row, int64_t begin, int64_t n, float threshold);

/// The largest element; -infinity for none. NaN may or may not be passed over.
float largest_of(const float* row, int64_t n);

/// sum_j exp(row[j] - shift), added up in a fixed order.
float sum_of_exponentials(const float* row, int64_t n, float shift);

}  // namespace dragoman::ops
