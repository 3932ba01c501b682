#include "tensor/arena.h"

#include <sys/mman.h>

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace dragoman::tensor {
namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kSmallestRegion = size_t{16} << 20;

size_t round_up(size_t bytes, size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

std::shared_ptr<Arena>& thread_arena() {
  thread_local std::shared_ptr<Arena> arena;
  return arena;
}

}  // namespace

Arena::~Arena() {
  for (const auto& [address, bytes] : regions_) {
    munmap(address, bytes);
  }
}

void* Arena::allocate(size_t bytes) {
  bytes = round_up(std::max<size_t>(bytes, 1), kAlignment);
  const std::lock_guard lock(mutex_);
  auto found = free_by_size_.lower_bound({bytes, nullptr});
  if (found == free_by_size_.end()) {
    grow(bytes);
    found = free_by_size_.lower_bound({bytes, nullptr});
  }
  char* address = found->second;
  Block& block = blocks_.at(address);
  erase_free(address, block);
  split(address, block, bytes);
  counters_.live_bytes += block.bytes;
  counters_.peak_bytes = std::max(counters_.peak_bytes, counters_.live_bytes);
  return address;
}

void Arena::release(void* pointer) {
  const std::lock_guard lock(mutex_);
  char* address = static_cast<char*>(pointer);
  Block* block = &blocks_.at(address);
  counters_.live_bytes -= block->bytes;
  block->free = true;
  join_with_next(address, *block);
  if (block->previous != nullptr && blocks_.at(block->previous).free) {
    address = block->previous;
    block = &blocks_.at(address);
    erase_free(address, *block);
    join_with_next(address, *block);
  }
  insert_free(address, *block);
}

void Arena::reserve(size_t bytes) {
  const std::lock_guard lock(mutex_);
  bytes = round_up(bytes, kAlignment);
  if (free_by_size_.lower_bound({bytes, nullptr}) == free_by_size_.end()) {
    grow(bytes);
  }
}

void Arena::give_back() {
  const std::lock_guard lock(mutex_);
  std::erase_if(regions_, [this](const std::pair<void*, size_t>& region) {
    char* const first = static_cast<char*>(region.first);
    const Block block = blocks_.at(first);
    if (!block.free || block.bytes != region.second) {
      return false;
    }
    erase_free(first, block);
    blocks_.erase(first);
    munmap(first, region.second);
    counters_.system_bytes -= region.second;
    return true;
  });
}

ArenaCounters Arena::counters() const {
  const std::lock_guard lock(mutex_);
  return counters_;
}

// Regions grow with what is held already, so that their number stays logarithmic.
void Arena::grow(size_t bytes) {
  const size_t held = static_cast<size_t>(counters_.system_bytes);
  const size_t region = round_up(std::max({bytes, kSmallestRegion, held / 4}), kHugePage);
  void* address = mmap(nullptr, region, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  base::check(address != MAP_FAILED, base::ErrorKind::kRuntime,
              "arena: the system refused {} bytes ({} already held); use smaller batches or a smaller model", region,
              held);
  madvise(address, region, MADV_HUGEPAGE);
  regions_.emplace_back(address, region);
  ++counters_.system_requests;
  counters_.system_bytes += region;
  Block block{region, true, nullptr, nullptr};
  insert_free(static_cast<char*>(address), blocks_.emplace(static_cast<char*>(address), block).first->second);
}

void Arena::insert_free(char* address, Block& block) {
  block.free = true;
  free_by_size_.emplace(block.bytes, address);
}

void Arena::erase_free(char* address, const Block& block) {
  free_by_size_.erase({block.bytes, address});
  blocks_.at(address).free = false;
}

void Arena::split(char* address, Block& block, size_t bytes) {
  if (block.bytes - bytes < kAlignment) {
    return;
  }
  char* rest = address + bytes;
  Block& remainder = blocks_.emplace(rest, Block{block.bytes - bytes, true, address, block.next}).first->second;
  if (block.next != nullptr) {
    blocks_.at(block.next).previous = rest;
  }
  block.next = rest;
  block.bytes = bytes;
  insert_free(rest, remainder);
}

void Arena::join_with_next(char* address, Block& block) {
  if (block.next == nullptr || !blocks_.at(block.next).free) {
    return;
  }
  char* next = block.next;
  const Block joined = blocks_.at(next);
  erase_free(next, joined);
  blocks_.erase(next);
  block.bytes += joined.bytes;
  block.next = joined.next;
  if (block.next != nullptr) {
    blocks_.at(block.next).previous = address;
  }
}

const std::shared_ptr<Arena>& Arena::current() {
  static const std::shared_ptr<Arena> process_arena = std::make_shared<Arena>();
  const std::shared_ptr<Arena>& arena = thread_arena();
  return arena ? arena : process_arena;
}

ArenaScope::ArenaScope(std::shared_ptr<Arena> arena) : previous_(std::exchange(thread_arena(), std::move(arena))) {}

ArenaScope::~ArenaScope() {
  thread_arena() = std::move(previous_);
}

}  // namespace dragoman::tensor
