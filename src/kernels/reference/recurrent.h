#pragma once

#include "kernels/recurrent.h"

namespace dragoman::kernels::reference {

/// The definition of a step of a recurrent layer, in float64.
void recurrent_cell(const RecurrentCellForward& step);
void recurrent_cell_backward(const RecurrentCellBackward& step);

}  // namespace dragoman::kernels::reference
