#pragma once

#include "kernels/cuda/cuda_device.h"
#include "tensor/arena.h"

namespace dragoman::test_support {

/// While alive, new tensors of this thread are on the first GPU, or on its emulation.
class [[nodiscard]] OnCuda {
 public:
  OnCuda() : memory_(kernels::cuda::open_device(0)) {}

 private:
  tensor::ArenaScope memory_;
};

}  // namespace dragoman::test_support
