#include <cuda_runtime.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "base/error.h"
#include "kernels/cuda/cuda_error-inl.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/recording.h"
#include "kernels/cuda/runtime.h"

namespace dragoman::kernels::cuda {
namespace {

int& device_of_process() {
  static int device = 0;
  return device;
}

std::atomic<uint64_t>& waits() {
  static std::atomic<uint64_t> count = 0;
  return count;
}

// Pinned memory that copies from the host pass through: a ring of segments. A segment is written again after the copies
// out of it have ended, which an event tells.
class StagingRing {
 public:
  // Never given back: the driver may be gone before.
  static StagingRing& instance() {
    static StagingRing& ring = *new StagingRing;
    return ring;
  }

  void copy_in(const void* host, size_t bytes, void* device) {
    const std::lock_guard lock(mutex_);
    if (used_ + bytes > kSegment) {
      begin_next_segment();
    }
    char* const staged = memory_ + current_ * kSegment + used_;
    std::memcpy(staged, host, bytes);
    check(cudaMemcpyAsync(device, staged, bytes, cudaMemcpyHostToDevice, current_stream()), "copy from the host");
    used_ += (bytes + kAlignment - 1) / kAlignment * kAlignment;
  }

  void copy_out(const void* device, size_t bytes, void* host) {
    const std::lock_guard lock(mutex_);
    check(cudaMemcpyAsync(landing_, device, bytes, cudaMemcpyDeviceToHost, current_stream()), "copy to the host");
    check(cudaStreamSynchronize(current_stream()), "copy to the host");
    std::memcpy(host, landing_, bytes);
  }

 private:
  static constexpr size_t kSegment = 2 * kLargestStagedCopy, kSegments = 4, kAlignment = 64;

  StagingRing() {
    void* memory = nullptr;
    check(cudaMallocHost(&memory, kSegments * kSegment + kLargestStagedCopy), "cudaMallocHost");
    memory_ = static_cast<char*>(memory);
    landing_ = memory_ + kSegments * kSegment;
    for (cudaEvent_t& event : ended_) {
      check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreate");
    }
  }

  void begin_next_segment() {
    check(cudaEventRecord(ended_[current_], current_stream()), "cudaEventRecord");
    current_ = (current_ + 1) % kSegments;
    used_ = 0;
    if (cudaEventQuery(ended_[current_]) == cudaErrorNotReady) {
      ++waits();
    }
    check(cudaEventSynchronize(ended_[current_]), "cudaEventSynchronize");
  }

  std::mutex mutex_;
  char* memory_ = nullptr;
  char* landing_ = nullptr;  // of copies to the host
  size_t current_ = 0;       // segment
  size_t used_ = 0;          // bytes of it
  std::array<cudaEvent_t, kSegments> ended_{};
};

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

DeviceFacts facts_of(int index) {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, index), "cudaGetDeviceProperties");
  DeviceFacts facts;
  facts.name = properties.name;
  facts.capability = properties.major * 10 + properties.minor;
  facts.multiprocessors = properties.multiProcessorCount;
  facts.memory = properties.totalGlobalMem;
  return facts;
}

}  // namespace

Devices find_devices() {
  Devices devices;
  int count = 0, driver = 0, runtime = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  cudaDriverGetVersion(&driver);
  cudaRuntimeGetVersion(&runtime);
  devices.driver =
      "driver " + (driver == 0 ? std::string("none") : version_text(driver)) + ", runtime " + version_text(runtime);
  if (status != cudaSuccess) {
    cudaGetLastError();
    devices.problem = std::string("cuda: no device: ") + cudaGetErrorString(status) + " (" + devices.driver +
                      "); install an NVIDIA driver of version 580 or later";
    return devices;
  }
  for (int index = 0; index < count; ++index) {
    devices.found.push_back(facts_of(index));
  }
  return devices;
}

void select_device(int index) {
  device_of_process() = index;
  check(cudaSetDevice(index), "cudaSetDevice");
}

int selected_device() {
  return device_of_process();
}

void begin_launch() {
  thread_local int current = 0;  // the runtime begins with device 0 in each thread
  if (current != device_of_process()) {
    check(cudaSetDevice(device_of_process()), "cudaSetDevice");
    current = device_of_process();
  }
}

void check_launch(const char* kernel) {
  cudaError_t status = cudaGetLastError();
  if (status == cudaSuccess && waits_for_each_kernel()) {
    status = cudaDeviceSynchronize();
  }
  base::check(status == cudaSuccess, base::ErrorKind::kRuntime, "cuda: kernel {}: {} ({})", kernel,
              cudaGetErrorString(status), cudaGetErrorName(status));
}

void* allocate_memory(size_t bytes) {
  begin_launch();
  void* memory = nullptr;
  const cudaError_t status = cudaMalloc(&memory, bytes);
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    return nullptr;
  }
  check(status, "cudaMalloc");
  return memory;
}

void free_memory(void* memory) {
  cudaSetDevice(device_of_process());  // a thread that did nothing else with the device would begin to use device 0
  cudaFree(memory);                    // fails only while the process ends
}

void begin_use(void*, size_t, size_t) {}

void end_use(void*, size_t) {}

void copy_in(const void* host, size_t bytes, void* device) {
  begin_launch();
  check_not_recording("copy from the host");
  if (bytes <= kLargestStagedCopy) {
    return StagingRing::instance().copy_in(host, bytes, device);
  }
  ++waits();
  check(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, current_stream()), "copy from the host");
}

void copy_out(const void* device, size_t bytes, void* host) {
  begin_launch();
  check_not_recording("copy to the host");
  ++waits();
  if (bytes <= kLargestStagedCopy) {
    return StagingRing::instance().copy_out(device, bytes, host);
  }
  check(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, current_stream()), "copy to the host");
  check(cudaStreamSynchronize(current_stream()), "copy to the host");
}

void copy_within(const void* from, size_t bytes, void* to) {
  begin_launch();
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, current_stream()), "copy on the device");
}

void clear_memory(void* memory, size_t bytes) {
  begin_launch();
  check(cudaMemsetAsync(memory, 0, bytes, current_stream()), "clear memory");
}

uint64_t waits_for_device() {
  return waits();
}

bool waits_for_each_kernel() {
  static const bool waits = [] {
    const char* const value = std::getenv("DRAGOMAN_CUDA_SYNC");
    return value != nullptr && value[0] == '1';
  }();
  return waits;
}

void wait_for_device() {
  begin_launch();
  ++waits();
  check(cudaDeviceSynchronize(), "wait for kernels");
}

}  // namespace dragoman::kernels::cuda
