#include "kernels/cuda/cuda_allocator.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/error.h"
#include "base/memory.h"
#include "kernels/cuda/recording.h"
#include "kernels/cuda/runtime.h"

namespace dragoman::kernels::cuda {
namespace {

// The next of eight sizes between powers of two; at least 512 bytes.
size_t size_class(size_t bytes) {
  bytes = std::max<size_t>(bytes, 512);
  const size_t step = std::bit_floor(bytes - 1) / 8;
  return (bytes + step - 1) / step * step;
}

// Null: the memory that all threads share.
CudaAllocator*& scratch_of_thread() {
  thread_local CudaAllocator* memory = nullptr;
  return memory;
}

}  // namespace

ScratchScope::ScratchScope(CudaAllocator& memory) : outer_(std::exchange(scratch_of_thread(), &memory)) {}

ScratchScope::~ScratchScope() {
  scratch_of_thread() = outer_;
}

CudaAllocator& scratch_memory() {
  static CudaAllocator& shared = *new CudaAllocator;  // kept until the process ends: the driver may be gone before
  return scratch_of_thread() == nullptr ? shared : *scratch_of_thread();
}

CudaAllocator::~CudaAllocator() {
  free_unused();
}

tensor::Device CudaAllocator::device() const {
  return {tensor::DeviceKind::kCuda, static_cast<uint8_t>(selected_device())};
}

std::shared_ptr<tensor::Allocator> CudaAllocator::another() const {
  return std::make_shared<CudaAllocator>();
}

void* CudaAllocator::allocate(size_t bytes) {
  const std::lock_guard lock(mutex_);
  const size_t size = size_class(bytes);
  void* block = nullptr;
  if (const auto found = unused_.find(size); found != unused_.end()) {
    block = found->second;
    unused_.erase(found);
  } else {
    block = take_from_driver(size);
  }
  begin_use(block, bytes, size);
  allocated_.emplace(block, size);
  counters_.live_bytes += size;
  counters_.peak_bytes = std::max(counters_.peak_bytes, counters_.live_bytes);
  return block;
}

void* CudaAllocator::take_from_driver(size_t bytes) {
  void* block = allocate_memory(bytes);
  if (block == nullptr) {
    free_unused();
    block = allocate_memory(bytes);
  }
  base::check(block != nullptr, base::ErrorKind::kRuntime,
              "{}: no memory for {} ({} already held); use smaller batches or a smaller model", device().name(),
              base::format_size(bytes), base::format_size(counters_.system_bytes));
  ++counters_.system_requests;
  counters_.system_bytes += bytes;
  return block;
}

void CudaAllocator::release(void* block) {
  const std::lock_guard lock(mutex_);
  const auto found = allocated_.find(block);
  counters_.live_bytes -= found->second;
  end_use(block, found->second);
  unused_.emplace(found->second, block);
  allocated_.erase(found);
}

void CudaAllocator::give_back() {
  const std::lock_guard lock(mutex_);
  free_unused();
}

void CudaAllocator::free_unused() {
  for (const auto& [bytes, block] : unused_) {
    free_memory(block);
    counters_.system_bytes -= bytes;
  }
  unused_.clear();
}

tensor::ArenaCounters CudaAllocator::counters() const {
  const std::lock_guard lock(mutex_);
  return counters_;
}

void CudaAllocator::copy_to_host(const void* device, size_t bytes, void* host) const {
  copy_out(device, bytes, host);
}

void CudaAllocator::copy_from_host(const void* host, size_t bytes, void* device) const {
  copy_in(host, bytes, device);
}

void CudaAllocator::clear(void* device, size_t bytes) const {
  clear_memory(device, bytes);
}

void CudaAllocator::copy_inside(const void* from, size_t bytes, void* to) const {
  copy_within(from, bytes, to);
}

}  // namespace dragoman::kernels::cuda
