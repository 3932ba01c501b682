#pragma once

#include <cstdint>

#include "kernels/cpu/gemm/panels_cpu.h"

namespace dragoman::kernels {

/// The squared lengths of a vector rounded to int8, and of the rounding error.
struct Rounding {
  float kept;  ///< of the rounded vector
  float lost;  ///< of the vector minus the rounded vector
};

/// Returns: the Rounding of a row of x, rounded as in int8 products; NaN if an element is not finite.
Rounding rounding_of_row(const float* x, int64_t n);

/// Returns: the largest `kept` and the largest `lost` of the columns of a matrix packed in float32. The columns are
/// rounded with `scales` [columns]. The result is infinity if an element is not finite.
Rounding largest_column_rounding(const PanelStorage& panels, PackedSize size, const float* scales);

/// Writes first_id + i for each of n numbers that is at least `floor`, in order. NaN is skipped.
/// @param ids  room for n entries and one vector more;  @return the number of entries written
int64_t ids_at_least(const float* row, int64_t n, float floor, int32_t first_id, int32_t* ids);

}  // namespace dragoman::kernels
