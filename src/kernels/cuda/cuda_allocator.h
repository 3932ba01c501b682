#pragma once

#include <map>
#include <mutex>
#include <unordered_map>

#include "tensor/allocator.h"

namespace dragoman::kernels::cuda {

/// The caching allocator of the selected device. Requests are rounded up to one of eight sizes between two powers of
/// two, and a released block waits for the next request of its size. Blocks return to the driver in give_back(), in the
/// destructor, and when memory runs out.
/// Threads: any number.
class CudaAllocator final : public tensor::Allocator {
 public:
  CudaAllocator() = default;
  ~CudaAllocator() override;

  tensor::Device device() const override;
  std::shared_ptr<tensor::Allocator> another() const override;

  /// Throws: Error, "cuda:0: no memory for 12 GiB (60 GiB already held); use smaller batches or a smaller model".
  void* allocate(size_t bytes) override;
  void release(void* block) override;
  void reserve(size_t) override {}  // a block of another size would not serve later requests
  void give_back() override;
  tensor::ArenaCounters counters() const override;

  bool host_may_access() const override { return false; }
  void copy_to_host(const void* device, size_t bytes, void* host) const override;
  void copy_from_host(const void* host, size_t bytes, void* device) const override;
  void copy_inside(const void* from, size_t bytes, void* to) const override;
  void clear(void* device, size_t bytes) const override;

 private:
  void* take_from_driver(size_t bytes);
  void free_unused();

  mutable std::mutex mutex_;
  std::multimap<size_t, void*> unused_;          // by size
  std::unordered_map<void*, size_t> allocated_;  // sizes of blocks in use
  tensor::ArenaCounters counters_;
};

}  // namespace dragoman::kernels::cuda
