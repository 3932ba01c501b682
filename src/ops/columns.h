#pragma once

#include "ops/types.h"

namespace dragoman::ops {

/// Puts two matrices side by side:  y = [left, right].
/// @param left  [N, A];  @param right  [N, B], of one type; rows may be strided
/// @return [N, A + B].   Saves nothing for backward.   Gradients: both.
/// Throws: Error, "concatenate_columns: right is [3, 2], must be [4, 2]".
Variable concatenate_columns(const Variable& left, const Variable& right);

}  // namespace dragoman::ops
