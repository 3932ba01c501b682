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

/// Makes GPU `index` the device of this process and gives it its kernels and its memory (tensor::memory_of). New
/// tensors are on it while a tensor::DeviceScope of it, or an ArenaScope of the result, is alive. A process may open
/// its GPU any number of times.
/// Throws: Error, "cuda: there is no cuda:3, this machine has 1 GPU", "cuda: this process computes on cuda:0 already;
/// use cuda:1 in another process", "cuda: this program was built without CUDA; configure with -DDRAGOMAN_CUDA=ON", or
/// what the driver says.
/// Threads: any.
[[nodiscard]] std::shared_ptr<tensor::Allocator> open_device(int index);

}  // namespace dragoman::kernels::cuda
