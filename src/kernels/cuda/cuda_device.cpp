#include "kernels/cuda/cuda_device.h"

#include <mutex>
#include <optional>

#include "base/error.h"
#include "base/memory.h"
#include "kernels/backends/backend_of.h"
#include "kernels/cuda/cublas_lt.h"
#include "kernels/cuda/cuda_allocator.h"
#include "kernels/cuda/cuda_backend.h"
#include "kernels/cuda/device_group.h"
#include "kernels/cuda/runtime.h"
#include "tensor/device_scope.h"

namespace dragoman::kernels::cuda {
namespace {

// Kept until the process ends: tensors and the driver may be gone before or after.
const CudaBackend& backend() {
  static const CudaBackend& instance = *new CudaBackend;
  return instance;
}

}  // namespace

std::vector<std::string> describe_devices() {
  const Devices devices = find_devices();
  if (devices.found.empty()) {
    return {devices.problem};
  }
  std::vector<std::string> lines;
  for (size_t index = 0; index < devices.found.size(); ++index) {
    const DeviceFacts& facts = devices.found[index];
    lines.push_back(fmt::format("cuda:{} {}, sm_{}, {} multiprocessors, {}; {}", index, facts.name, facts.capability,
                                facts.multiprocessors, base::format_size(facts.memory), devices.driver));
  }
  lines.push_back("messages between GPUs: " + describe_messages());
  return lines;
}

int device_count() {
  return static_cast<int>(find_devices().found.size());
}

std::shared_ptr<tensor::Allocator> open_device(int index) {
  const Devices devices = find_devices();
  base::check(!devices.found.empty(), base::ErrorKind::kRuntime, "{}", devices.problem);
  base::check_usage(index >= 0 && static_cast<size_t>(index) < devices.found.size(),
                    "cuda: there is no cuda:{}, this machine has {} GPU{}", index, devices.found.size(),
                    devices.found.size() == 1 ? "" : "s");
  // What other threads use already is set once.
  static std::mutex mutex;
  static std::optional<int> opened;
  const std::lock_guard lock(mutex);
  base::check_usage(!opened || *opened == index,
                    "cuda: this process computes on cuda:{} already; use cuda:{} in another process",
                    opened.value_or(index), index);
  if (!opened) {
    select_device(index);
    set_backend(tensor::DeviceKind::kCuda, &backend());
    tensor::set_memory_of_device(std::make_shared<CudaAllocator>());
    opened = index;
  }
  return std::make_shared<CudaAllocator>();
}

}  // namespace dragoman::kernels::cuda
