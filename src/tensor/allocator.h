#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "tensor/device.h"

namespace dragoman::tensor {

/// The counters of an allocator. Tests use them to show that a step after warm-up requests no memory from the system.
struct ArenaCounters {
  uint64_t system_requests = 0;  ///< number of requests to the system
  uint64_t system_bytes = 0;     ///< bytes obtained from the system
  uint64_t live_bytes = 0;       ///< allocated bytes
  uint64_t peak_bytes = 0;       ///< peak of the allocated bytes
};

/// A source of memory of one device, and the copies between that memory and the host. Arena is the allocator of the
/// CPU. Blocks keep the allocator alive: the storage of a tensor holds a shared pointer to it.
/// Threads: any number.
class Allocator {
 public:
  Allocator() = default;
  virtual ~Allocator() = default;
  Allocator(const Allocator&) = delete;
  Allocator& operator=(const Allocator&) = delete;

  virtual Device device() const = 0;
  /// Returns: a new allocator of the same device, for a worker or for memory that is soon returned.
  virtual std::shared_ptr<Allocator> another() const = 0;

  /// Returns an uninitialised block of at least `bytes`, aligned to 64 bytes. Throws: Error if there is no memory.
  virtual void* allocate(size_t bytes) = 0;
  virtual void release(void* block) = 0;
  /// Ensures that one further block of `bytes` can be allocated without a request to the system.
  virtual void reserve(size_t bytes) = 0;
  /// Returns all unused memory to the system.
  virtual void give_back() = 0;
  virtual ArenaCounters counters() const = 0;

  /// Returns: whether this thread may use pointers to the memory now. Kernels of a device that runs on the host may.
  virtual bool host_may_access() const = 0;
  /// Copy bytes. `device` is an address in the memory of the device; blocks of copy_inside may overlap.
  virtual void copy_to_host(const void* device, size_t bytes, void* host) const = 0;
  virtual void copy_from_host(const void* host, size_t bytes, void* device) const = 0;
  virtual void copy_inside(const void* from, size_t bytes, void* to) const = 0;
  /// Sets bytes in the memory of the device to 0.
  virtual void clear(void* device, size_t bytes) const = 0;
};

}  // namespace dragoman::tensor
