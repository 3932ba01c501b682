#pragma once

#include <cstdint>

#include "kernels/cpu/gemm/panels_cpu.h"

namespace dragoman::kernels {

/// What rounding a vector to int8 leaves of it and takes away, both as squares of lengths.
struct Rounding {
  float kept;  ///< of the rounded vector
  float lost;  ///< of the vector less the rounded one
};

/// Of a row of x, rounded as products in int8 round it. NaN where an element is not finite.
Rounding rounding_of_row(const float* x, int64_t n);

/// The largest of both among the columns of a matrix packed in float32, rounded with these scales [columns]. Infinity
/// where an element is not finite.
Rounding largest_column_rounding(const PanelStorage& panels, PackedSize size, const float* scales);

/// Writes first_id + i for those of n numbers, in their order, that are at least `floor`; NaN is not.
/// @param ids  room for n and a vector more;  @return how many
int64_t ids_at_least(const float* row, int64_t n, float floor, int32_t first_id, int32_t* ids);

}  // namespace dragoman::kernels
