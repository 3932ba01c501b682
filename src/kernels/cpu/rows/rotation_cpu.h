#pragma once

#include "kernels/rotation.h"

namespace dragoman::kernels {

/// Rotates the pairs of each head in float32; bfloat16 is rounded once.
void rotate_cpu(const Rotation& rotation, Tensor& y);

}  // namespace dragoman::kernels
