#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tensor/allocator.h"

namespace dragoman::kernels::cuda {

/// Returns: lines that say which GPUs this program can use, or why it can use none: "cuda:0 NVIDIA H100 80GB HBM3,
/// sm_90, 79.1 GiB".
[[nodiscard]] std::vector<std::string> describe_devices();

/// Returns: how many GPUs this program can use.
[[nodiscard]] int device_count();

/// Returns: whether there is a GPU that this program can use.
[[nodiscard]] inline bool has_device() {
  return device_count() > 0;
}

/// Makes GPU `index` the device of this process and gives it its kernels. New tensors are on it while an ArenaScope of
/// the result is alive.
/// Throws: Error, "cuda: there is no cuda:3, this machine has 1 GPU", "cuda: this program was built without CUDA;
/// configure with -DDRAGOMAN_CUDA=ON", or what the driver says. Threads: call before tensors are on a GPU.
[[nodiscard]] std::shared_ptr<tensor::Allocator> open_device(int index);

}  // namespace dragoman::kernels::cuda
