#include <cuda_runtime.h>

#include <cstdlib>

#include "base/error.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/runtime.h"

namespace dragoman::kernels::cuda {
namespace {

int& device_of_process() {
  static int device = 0;
  return device;
}

void check(cudaError_t status, const char* call) {
  base::check(status == cudaSuccess, base::ErrorKind::kRuntime, "cuda: {}: {} ({})", call, cudaGetErrorString(status),
              cudaGetErrorName(status));
}

// With DRAGOMAN_CUDA_SYNC=1 each kernel is waited for, so that the error of a kernel names it.
bool waits_for_each() {
  static const bool waits = [] {
    const char* const value = std::getenv("DRAGOMAN_CUDA_SYNC");
    return value != nullptr && value[0] == '1';
  }();
  return waits;
}

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
  if (status == cudaSuccess && waits_for_each()) {
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
  cudaFree(memory);  // fails only while the process ends
}

void copy_in(const void* host, size_t bytes, void* device) {
  begin_launch();
  check(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice), "copy from the host");
}

void copy_out(const void* device, size_t bytes, void* host) {
  begin_launch();
  check(cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost), "copy to the host");
}

void copy_within(const void* from, size_t bytes, void* to) {
  begin_launch();
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice), "copy on the device");
}

void wait_for_device() {
  begin_launch();
  check(cudaDeviceSynchronize(), "wait for kernels");
}

}  // namespace dragoman::kernels::cuda
