#pragma once

#include <cstdint>

#include "kernels/types.h"

namespace dragoman::kernels {

/// Returns: Dropout::step_on_device of a tensor.  @param step  [1] int32, in the memory of a device
inline const uint32_t* step_on_device(const Tensor& step) {
  return static_cast<const uint32_t*>(step.device_data());
}

}  // namespace dragoman::kernels
