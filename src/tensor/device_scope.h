#pragma once

#include <memory>
#include <optional>

#include "tensor/arena.h"

namespace dragoman::tensor {

/// Returns: memory of a device, which all threads may share: that of the host, or what set_memory_of was given.
/// Throws: Error, "tensor: this process has not opened cuda:0".
[[nodiscard]] std::shared_ptr<Allocator> memory_of(Device device);

/// Makes `memory` the memory of its device for memory_of, until the process ends. Threads: any.
void set_memory_of_device(const std::shared_ptr<Allocator>& memory);

/// While alive, new tensors of this thread are on a device. They come from memory_of(device), unless the memory of the
/// thread is of this device already.
class [[nodiscard]] DeviceScope {
 public:
  /// Throws: Error as memory_of.
  explicit DeviceScope(Device device);

 private:
  std::optional<ArenaScope> scope_;
};

}  // namespace dragoman::tensor
