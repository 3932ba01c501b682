#pragma once

#include "tensor/tensor.h"

namespace dragoman::kernels {

/// Returns: the elements of one row of a matrix [N, D] whose rows may be strided.
template <typename T>
const T* row_of(const tensor::Tensor& matrix, int64_t row) {
  return matrix.data<T>() + row * matrix.stride(0);
}
template <typename T>
T* row_of(tensor::Tensor& matrix, int64_t row) {
  return matrix.data<T>() + row * matrix.stride(0);
}

}  // namespace dragoman::kernels
