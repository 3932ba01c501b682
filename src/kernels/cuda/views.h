#pragma once

#include <cstdint>

#include "tensor/dtype.h"

namespace dragoman::kernels::cuda {

using tensor::BFloat16;

/// A matrix in the memory of the device, as kernels take it.
template <typename T>
struct Matrix {
  T* data = nullptr;
  int64_t stride = 0;  ///< elements from one row to the next
};

/// A matrix whose elements are float32 or bfloat16.
struct AnyMatrix {
  void* data = nullptr;
  int64_t stride = 0;
  bool is_bfloat16 = false;

  template <typename T>
  Matrix<T> as() const {
    return {static_cast<T*>(data), stride};
  }
};

/// The number of rows and columns of a matrix.
struct Extent {
  int64_t rows = 0;
  int64_t columns = 0;
};

/// kernels::Dropout for kernels.
struct Mask {
  uint32_t threshold = 0;  ///< half-words below it are dropped; 0 = no dropout
  float scale = 1;         ///< of kept values
  uint32_t key0 = 0, key1 = 0;
  uint32_t step = 0;
  uint32_t site = 0;
  uint32_t first_row = 0;
  const uint32_t* step_on_device = nullptr;  ///< kernels::Dropout::step_on_device; `step` then is the highest bit alone
};

}  // namespace dragoman::kernels::cuda
