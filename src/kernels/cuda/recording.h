#pragma once

#include <functional>

namespace dragoman::kernels::cuda {

class CudaAllocator;

/// While alive, kernels that this thread queues, and its copies inside the device, are kept and not run. A copy from or
/// to the host is refused. recording_cuda.cpp keeps them in a CUDA graph, recording_emulated.cpp in a list.
class Recording {
 public:
  /// Throws: Error, "cuda: a recording is under way in this thread".
  Recording();
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  /// Ends the recording. Returns: what queues all that was kept, with the memory that it had. Call once.
  [[nodiscard]] std::function<void()> finish();
};

/// Returns: whether this thread records.
[[nodiscard]] bool is_recording();

/// Throws: Error, "cuda: copy from the host while kernels are recorded", if this thread records.
void check_not_recording(const char* call);

/// Runs a launch of the emulation, or keeps it if this thread records. The other runtime has no such function.
void run_or_record(std::function<void()> launch);

/// While alive, arrays of this thread that live for a call only are in `memory`. What was recorded then owns them.
class ScratchScope {
 public:
  explicit ScratchScope(CudaAllocator& memory);
  ~ScratchScope();
  ScratchScope(const ScratchScope&) = delete;
  ScratchScope& operator=(const ScratchScope&) = delete;

 private:
  CudaAllocator* outer_;
};

/// Returns: the memory of such arrays.
CudaAllocator& scratch_memory();

}  // namespace dragoman::kernels::cuda
