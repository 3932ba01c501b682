#include "tensor/arena.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
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

std::shared_ptr<Allocator>& thread_allocator() {
  thread_local std::shared_ptr<Allocator> allocator;
  return allocator;
}

const std::shared_ptr<Allocator>& process_arena() {
  static const std::shared_ptr<Allocator> arena = std::make_shared<Arena>();
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
  if (char* waiting = take_waiting(bytes)) {
    count_live(bytes);
    return waiting;
  }
  auto found = find_free(bytes);
  if (found == free_by_size_.end()) {
    grow(bytes);
    found = find_free(bytes);
  }
  char* address = found->second;
  Block& block = blocks_.at(address);
  const size_t left = block.bytes - bytes;
  Blocks::node_type rest = left >= kAlignment ? make_block(left) : Blocks::node_type();
  erase_free(address, block);
  if (!rest.empty()) {
    split(address, block, std::move(rest));
  }
  count_live(block.bytes);
  return address;
}

void Arena::release(void* pointer) {
  const std::lock_guard lock(mutex_);
  char* address = static_cast<char*>(pointer);
  Block& block = blocks_.at(address);
  counters_.live_bytes -= block.bytes;
  if (block.bytes > kWaitingBytes) {
    return join(address, block);
  }
  if (waiting_count_ == kMostWaiting) {
    join_waiting(1);
  }
  waiting_[waiting_count_++] = {block.bytes, address};
}

void Arena::reserve(size_t bytes) {
  const std::lock_guard lock(mutex_);
  bytes = round_up(bytes, kAlignment);
  if (find_free(bytes) == free_by_size_.end()) {
    grow(bytes);
  }
}

void Arena::give_back() {
  const std::lock_guard lock(mutex_);
  join_waiting(waiting_count_);
  std::erase_if(regions_, [this](const std::pair<void*, size_t>& region) {
    char* const first = static_cast<char*>(region.first);
    const auto block = blocks_.find(first);
    if (!block->second.free || block->second.bytes != region.second) {
      return false;
    }
    erase_free(first, block->second);
    blocks_.erase(block);
    munmap(first, region.second);
    counters_.system_bytes -= region.second;
    return true;
  });
}

ArenaCounters Arena::counters() const {
  const std::lock_guard lock(mutex_);
  return counters_;
}

void Arena::count_live(size_t bytes) {
  counters_.live_bytes += bytes;
  counters_.peak_bytes = std::max(counters_.peak_bytes, counters_.live_bytes);
}

// The latest of just that size, which is the likeliest to be in the processor's cache; null for none.
char* Arena::take_waiting(size_t bytes) {
  for (size_t i = waiting_count_; i-- > 0;) {
    if (waiting_[i].bytes == bytes) {
      char* const address = waiting_[i].address;
      std::copy(waiting_.begin() + i + 1, waiting_.begin() + waiting_count_--, waiting_.begin() + i);
      return address;
    }
  }
  return nullptr;
}

// The smallest free block that is large enough. The system is asked for more only when those that wait do not help.
Arena::FreeBlocks::iterator Arena::find_free(size_t bytes) {
  auto found = free_by_size_.lower_bound({bytes, nullptr});
  if (found == free_by_size_.end() && waiting_count_ > 0) {
    join_waiting(waiting_count_);
    found = free_by_size_.lower_bound({bytes, nullptr});
  }
  return found;
}

// Makes the `count` that have waited longest free for all.
void Arena::join_waiting(size_t count) {
  for (size_t i = 0; i < count; ++i) {
    join(waiting_[i].address, blocks_.at(waiting_[i].address));
  }
  std::copy(waiting_.begin() + count, waiting_.begin() + waiting_count_, waiting_.begin());
  waiting_count_ -= count;
}

// A block without an address. Made before anything is changed, for here memory may be refused.
Arena::Blocks::node_type Arena::make_block(size_t bytes) {
  FreeBlocks places = {{bytes, nullptr}};
  Blocks blocks;
  Block& block = blocks[nullptr];
  block.bytes = bytes;
  block.place = places.extract(places.begin());
  return blocks.extract(blocks.begin());
}

// Regions grow with what is held already, so that their number stays logarithmic.
void Arena::grow(size_t bytes) {
  const size_t held = static_cast<size_t>(counters_.system_bytes);
  const size_t region = round_up(std::max({bytes, kSmallestRegion, held / 4}), kHugePage);
  Blocks::node_type block = make_block(region);
  regions_.reserve(regions_.size() + 1);
  void* address = mmap(nullptr, region, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  base::check(address != MAP_FAILED, base::ErrorKind::kRuntime,
              "arena: the system refused {} bytes ({} already held); use smaller batches or a smaller model", region,
              held);
  madvise(address, region, MADV_HUGEPAGE);
  regions_.emplace_back(address, region);
  ++counters_.system_requests;
  counters_.system_bytes += region;
  block.key() = static_cast<char*>(address);
  const auto inserted = blocks_.insert(std::move(block)).position;
  insert_free(inserted->first, inserted->second);
}

void Arena::insert_free(char* address, Block& block) {
  block.free = true;
  block.place.value() = {block.bytes, address};
  free_by_size_.insert(std::move(block.place));
}

void Arena::erase_free(char* address, Block& block) {
  block.free = false;
  block.place = free_by_size_.extract({block.bytes, address});
}

// Leaves the end of a block in use to `rest`, which is free.
void Arena::split(char* address, Block& block, Blocks::node_type rest) {
  block.bytes -= rest.mapped().bytes;
  rest.key() = address + block.bytes;
  rest.mapped().previous = address;
  rest.mapped().next = block.next;
  if (block.next != nullptr) {
    blocks_.at(block.next).previous = rest.key();
  }
  block.next = rest.key();
  const auto inserted = blocks_.insert(std::move(rest)).position;
  insert_free(inserted->first, inserted->second);
}

// Makes a block free, one with its free neighbours.
void Arena::join(char* address, Block& block) {
  block.free = true;
  join_with_next(address, block);
  if (block.previous == nullptr || !blocks_.at(block.previous).free) {
    return insert_free(address, block);
  }
  Block& previous = blocks_.at(block.previous);
  char* const first = block.previous;
  erase_free(first, previous);
  join_with_next(first, previous);
  insert_free(first, previous);
}

void Arena::join_with_next(char* address, Block& block) {
  if (block.next == nullptr || !blocks_.at(block.next).free) {
    return;
  }
  const auto joined = blocks_.find(block.next);
  free_by_size_.erase({joined->second.bytes, joined->first});
  block.bytes += joined->second.bytes;
  block.next = joined->second.next;
  blocks_.erase(joined);
  if (block.next != nullptr) {
    blocks_.at(block.next).previous = address;
  }
}

void Arena::copy_to_host(const void* device, size_t bytes, void* host) const {
  std::memmove(host, device, bytes);
}

void Arena::copy_from_host(const void* host, size_t bytes, void* device) const {
  std::memmove(device, host, bytes);
}

void Arena::clear(void* device, size_t bytes) const {
  std::memset(device, 0, bytes);
}

void Arena::copy_inside(const void* from, size_t bytes, void* to) const {
  std::memmove(to, from, bytes);
}

const std::shared_ptr<Allocator>& Arena::current() {
  const std::shared_ptr<Allocator>& allocator = thread_allocator();
  return allocator ? allocator : process_arena();
}

const std::shared_ptr<Allocator>& Arena::host() {
  const std::shared_ptr<Allocator>& allocator = current();
  return allocator->device().is_host() ? allocator : process_arena();
}

ArenaScope::ArenaScope(std::shared_ptr<Allocator> allocator)
    : previous_(std::exchange(thread_allocator(), std::move(allocator))) {}

ArenaScope::~ArenaScope() {
  thread_allocator() = std::move(previous_);
}

}  // namespace dragoman::tensor
