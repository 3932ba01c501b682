#pragma once

#include <cstdint>
#include <vector>

#include "ops/types.h"

namespace dragoman::ops {

/// Returns: a copy of the offsets [B + 1] of ragged rows, in host memory.
/// Throws: Error unless they are int32, run from 0 to `n_rows` and never fall: "scan: offsets run from 0 to 5, must run
/// from 0 to the number of rows, 6".
[[nodiscard]] std::vector<int32_t> checked_offsets(const Tensor& offsets, int64_t n_rows, const char* op);

}  // namespace dragoman::ops
