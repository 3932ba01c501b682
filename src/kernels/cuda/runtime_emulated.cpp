#include <atomic>
#include <cstdlib>
#include <cstring>

#include "kernels/cuda/launch.h"
#include "kernels/cuda/runtime.h"

namespace dragoman::kernels::cuda {
namespace {

std::atomic<uint64_t>& waits() {
  static std::atomic<uint64_t> count = 0;
  return count;
}

}  // namespace

Devices find_devices() {
  DeviceFacts facts;
  facts.name = "emulation on the host";
  facts.capability = 90;
  facts.multiprocessors = 1;
  Devices devices;
  devices.found = {facts};
  devices.driver = "no driver, kernels run on the host";
  return devices;
}

void select_device(int) {}

int selected_device() {
  return 0;
}

void begin_launch() {}

void check_launch(const char*) {}

void* allocate_memory(size_t bytes) {
  constexpr size_t kAlignment = 256;  // as cudaMalloc
  void* const memory = std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
  if (memory != nullptr) {
    std::memset(memory, 0xFF, bytes);  // NaN: what no kernel wrote may not be read
  }
  return memory;
}

void free_memory(void* memory) {
  std::free(memory);
}

void copy_in(const void* host, size_t bytes, void* device) {
  waits() += bytes > kLargestStagedCopy ? 1 : 0;
  std::memcpy(device, host, bytes);
}

void copy_out(const void* device, size_t bytes, void* host) {
  ++waits();
  std::memcpy(host, device, bytes);
}

void copy_within(const void* from, size_t bytes, void* to) {
  std::memmove(to, from, bytes);
}

void clear_memory(void* memory, size_t bytes) {
  std::memset(memory, 0, bytes);
}

uint64_t waits_for_device() {
  return waits();
}

void wait_for_device() {
  ++waits();
}

}  // namespace dragoman::kernels::cuda
