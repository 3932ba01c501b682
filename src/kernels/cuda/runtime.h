#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace dragoman::kernels::cuda {

// The driver's side of a device: memory, copies and waits. runtime_cuda.cpp calls the CUDA runtime;
// runtime_emulated.cpp does the same with host memory. Kernels and copies of a process run in one stream, one after
// another, so memory that is released may be used by the next kernel at once.

/// What is known of a device.
struct DeviceFacts {
  std::string name;    ///< "NVIDIA H100 80GB HBM3"
  int capability = 0;  ///< 90 for sm_90
  int multiprocessors = 0;
  uint64_t memory = 0;  ///< bytes
  uint64_t free_memory = 0;
};

/// The devices that a program finds, or the reason why it finds none.
struct Devices {
  std::vector<DeviceFacts> found;
  std::string driver;   ///< "driver 13.0, runtime 13.0"
  std::string problem;  ///< "the NVIDIA driver is missing or older than CUDA 13.0 needs (580)"; empty if there are any
};

[[nodiscard]] Devices find_devices();

/// Makes device `index` the device of this process. Threads: call before any other function below.
void select_device(int index);
[[nodiscard]] int selected_device();

/// Returns: null if there is not enough memory.
[[nodiscard]] void* allocate_memory(size_t bytes);
void free_memory(void* memory);

/// Say that the first `used` of the `bytes` bytes at an address are in use from now on, and that none are. The
/// emulation makes them NaN, and AddressSanitizer refuses the others; on a GPU nothing happens.
void begin_use(void* memory, size_t used, size_t bytes);
void end_use(void* memory, size_t bytes);

/// Copies up to this size pass through pinned memory, so that those from the host wait for nothing.
inline constexpr size_t kLargestStagedCopy = size_t{4} << 20;

/// Copies from the host need not have arrived on return, but the source may be changed. Copies to the host have.
void copy_in(const void* host, size_t bytes, void* device);
void copy_out(const void* device, size_t bytes, void* host);
/// Requires: the ranges do not overlap.
void copy_within(const void* from, size_t bytes, void* to);
void clear_memory(void* memory, size_t bytes);
/// Returns: how often this process has waited for the device: by copy_out, by a copy_in that is too large to be staged,
/// and by wait_for_device. Threads: any.
[[nodiscard]] uint64_t waits_for_device();
/// Returns: whether each kernel is waited for, so that its error names it: with DRAGOMAN_CUDA_SYNC=1.
[[nodiscard]] bool waits_for_each_kernel();
/// Waits for all kernels and copies. Throws: Error if one of them failed.
void wait_for_device();

}  // namespace dragoman::kernels::cuda
