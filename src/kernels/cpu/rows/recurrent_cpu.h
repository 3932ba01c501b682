#pragma once

#include "kernels/recurrent.h"

namespace dragoman::kernels {

/// One step of a recurrent layer in float32, and its backward: all gates and the new state in one pass. Rows do not
/// depend on each other.
void recurrent_cell_cpu(const RecurrentCellForward& step);
void recurrent_cell_backward_cpu(const RecurrentCellBackward& step);

}  // namespace dragoman::kernels
