#pragma once

#include "tensor/tensor.h"

namespace dragoman::kernels {

using tensor::DType;
using tensor::Tensor;

}  // namespace dragoman::kernels
