#pragma once

#include "kernels/rotation.h"

namespace dragoman::kernels::reference {

// The definition of the kernel in kernels/cpu/rows/rotation_cpu.h, in plain float64 loops.
void rotate(const Rotation& rotation, Tensor& y);

}  // namespace dragoman::kernels::reference
