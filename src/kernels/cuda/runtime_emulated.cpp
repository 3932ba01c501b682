#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>

#include "base/error.h"
#include "kernels/cuda/emulation.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/recording.h"
#include "kernels/cuda/runtime.h"

// AddressSanitizer's part of a program that is linked with it; null otherwise.
extern "C" {
[[gnu::weak]] void __asan_poison_memory_region(void const volatile* memory, size_t bytes);
[[gnu::weak]] void __asan_unpoison_memory_region(void const volatile* memory, size_t bytes);
}

namespace dragoman::kernels::cuda {
namespace {

std::atomic<uint64_t>& waits() {
  static std::atomic<uint64_t> count = 0;
  return count;
}

// What the device has, and how many bytes from each address on.
struct Blocks {
  std::mutex mutex;
  std::map<uintptr_t, size_t> bytes_at;
};

Blocks& blocks() {
  static Blocks& instance = *new Blocks;  // memory is freed while the process ends
  return instance;
}

bool is_device_memory(const void* address) {
  Blocks& all = blocks();
  const std::lock_guard lock(all.mutex);
  const auto bits = reinterpret_cast<uintptr_t>(address);
  const auto after = all.bytes_at.upper_bound(bits);
  return after != all.bytes_at.begin() && bits - std::prev(after)->first <= std::prev(after)->second;
}

void check_device_memory(const char* call, const void* address) {
  base::check(is_device_memory(address), base::ErrorKind::kRuntime,
              "cuda: {}: {} is no memory of the device; give a tensor of the device", call, address);
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
  const size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  void* const memory = std::aligned_alloc(kAlignment, rounded);
  if (memory != nullptr) {
    Blocks& all = blocks();
    const std::lock_guard lock(all.mutex);
    all.bytes_at[reinterpret_cast<uintptr_t>(memory)] = rounded;
    begin_use(memory, bytes, rounded);
  }
  return memory;
}

void free_memory(void* memory) {
  Blocks& all = blocks();
  const std::lock_guard lock(all.mutex);
  all.bytes_at.erase(reinterpret_cast<uintptr_t>(memory));
  std::free(memory);
}

void begin_use(void* memory, size_t used, size_t bytes) {
  if (__asan_unpoison_memory_region != nullptr) {
    __asan_unpoison_memory_region(memory, bytes);
  }
  std::memset(memory, 0xFF, bytes);  // NaN: what no kernel wrote may not be read
  if (__asan_poison_memory_region != nullptr) {
    __asan_poison_memory_region(static_cast<char*>(memory) + used, bytes - used);
  }
}

void end_use(void* memory, size_t bytes) {
  if (__asan_poison_memory_region != nullptr) {
    __asan_poison_memory_region(memory, bytes);
  }
}

void copy_in(const void* host, size_t bytes, void* device) {
  check_device_memory("copy from the host", device);
  check_not_recording("copy from the host");
  waits() += bytes > kLargestStagedCopy ? 1 : 0;
  std::memcpy(device, host, bytes);
}

void copy_out(const void* device, size_t bytes, void* host) {
  check_device_memory("copy to the host", device);
  check_not_recording("copy to the host");
  ++waits();
  std::memcpy(host, device, bytes);
}

void copy_within(const void* from, size_t bytes, void* to) {
  check_device_memory("copy on the device", from);
  check_device_memory("copy on the device", to);
  run_or_record([=] { std::memmove(to, from, bytes); });
}

void clear_memory(void* memory, size_t bytes) {
  run_or_record([=] { std::memset(memory, 0, bytes); });
}

uint64_t waits_for_device() {
  return waits();
}

bool waits_for_each_kernel() {
  return false;  // a kernel has ended when its launch returns
}

void wait_for_device() {
  ++waits();
}

void emulation::check_address(const char* kernel, int position, const void* address) {
  if (address != nullptr && !is_device_memory(address)) {
    std::fprintf(stderr, "emulation: kernel %s: argument %d points to no memory of the device\n", kernel, position);
    std::abort();
  }
}

}  // namespace dragoman::kernels::cuda
