#include "tensor/device_scope.h"

#include <mutex>
#include <utility>
#include <vector>

#include "base/error.h"

namespace dragoman::tensor {
namespace {

// The devices that this process has opened: one or two.
struct OpenDevices {
  std::mutex mutex;
  std::vector<std::pair<Device, std::shared_ptr<Allocator>>> memory;
};

// Kept until the process ends: the driver of a device may be gone before.
OpenDevices& open_devices() {
  static OpenDevices& devices = *new OpenDevices;
  return devices;
}

}  // namespace

std::shared_ptr<Allocator> memory_of(Device device) {
  if (device.is_host()) {
    return Arena::host();
  }
  OpenDevices& devices = open_devices();
  const std::lock_guard lock(devices.mutex);
  for (const auto& [opened, memory] : devices.memory) {
    if (opened == device) {
      return memory;
    }
  }
  base::fail(base::ErrorKind::kRuntime, "tensor: this process has not opened {}", device.name());
}

void set_memory_of_device(const std::shared_ptr<Allocator>& memory) {
  OpenDevices& devices = open_devices();
  const std::lock_guard lock(devices.mutex);
  std::erase_if(devices.memory, [&](const auto& entry) { return entry.first == memory->device(); });
  devices.memory.emplace_back(memory->device(), memory);
}

DeviceScope::DeviceScope(Device device) {
  if (Arena::current()->device() != device) {
    scope_.emplace(memory_of(device));
  }
}

}  // namespace dragoman::tensor
