#pragma once

#include <cstdint>

namespace dragoman::ops {

/// The lowest index in [begin, n) with row[index] > threshold; n if there is none.
int64_t first_above(const float* row, int64_t begin, int64_t n, float threshold);

}  // namespace dragoman::ops
