#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "tensor/allocator.h"

namespace dragoman::tensor {

/// The caching allocator of host memory. It obtains large regions, with huge pages advised, from the system and
/// allocates 64-byte aligned blocks by best fit. Free neighbours are merged. Regions return to the system only in
/// give_back() and in the destructor. The last small freed blocks are kept unmerged for requests of exactly their size,
/// because a step of a model requests equal sizes again and again. Touching new memory takes about 12 times as long as
/// reusing it, so each worker keeps one arena for its lifetime. Blocks keep the arena alive: the storage of a tensor
/// holds a shared pointer to the arena. Threads: any number, but the lock is meant to be uncontended: one thread at a
/// time.
class Arena final : public Allocator {
 public:
  Arena() = default;
  ~Arena() override;

  Device device() const override { return {}; }
  std::shared_ptr<Allocator> another() const override { return std::make_shared<Arena>(); }

  /// Returns an uninitialised block of at least `bytes`, aligned to 64 bytes. Throws: Error, "arena: the system refused
  /// N bytes (M already held); use smaller batches".
  void* allocate(size_t bytes) override;
  void release(void* block) override;
  void reserve(size_t bytes) override;
  /// Returns all empty regions to the system.
  void give_back() override;
  ArenaCounters counters() const override;

  bool host_may_access() const override { return true; }
  void copy_to_host(const void* device, size_t bytes, void* host) const override;
  void copy_from_host(const void* host, size_t bytes, void* device) const override;
  void copy_inside(const void* from, size_t bytes, void* to) const override;
  void clear(void* device, size_t bytes) const override;

  /// Returns the allocator of new tensors of this thread: that of the innermost ArenaScope, otherwise an arena shared
  /// by the process.
  static const std::shared_ptr<Allocator>& current();
  /// Returns the allocator of new tensors of this thread that must be in host memory: `current` if it is of the host,
  /// otherwise the arena shared by the process.
  static const std::shared_ptr<Allocator>& host();

 private:
  using FreeBlocks = std::set<std::pair<size_t, char*>>;
  struct Block {
    size_t bytes = 0;
    bool free = false;
    char* previous = nullptr;     // neighbour at the lower address in the same region; null for the first
    char* next = nullptr;         // neighbour at the higher address; null for the last
    FreeBlocks::node_type place;  // in free_by_size_, kept for when it is freed: freeing asks for no memory
  };
  using Blocks = std::map<char*, Block>;

  // A block that came back and waits: not free yet for best fit and neighbours.
  struct Waiting {
    size_t bytes;
    char* address;
  };
  static constexpr size_t kMostWaiting = 16;
  static constexpr size_t kWaitingBytes = size_t{256} << 10;  // larger ones cost little beside what is done with them

  static Blocks::node_type make_block(size_t bytes);
  void count_live(size_t bytes);
  char* take_waiting(size_t bytes);
  FreeBlocks::iterator find_free(size_t bytes);
  void join_waiting(size_t count);
  void join(char* address, Block& block);
  void grow(size_t bytes);
  void insert_free(char* address, Block& block);
  void erase_free(char* address, Block& block);
  void split(char* address, Block& block, Blocks::node_type rest);
  void join_with_next(char* address, Block& block);

  mutable std::mutex mutex_;
  Blocks blocks_;                                   // every block, free or not
  FreeBlocks free_by_size_;                         // best fit: smallest block that is large enough
  std::array<Waiting, kMostWaiting> waiting_ = {};  // the latest last
  size_t waiting_count_ = 0;
  std::vector<std::pair<void*, size_t>> regions_;
  ArenaCounters counters_;
};

/// While alive, new tensors of this thread come from `allocator`, and so are on its device.
class [[nodiscard]] ArenaScope {
 public:
  explicit ArenaScope(std::shared_ptr<Allocator> allocator);
  ~ArenaScope();
  ArenaScope(const ArenaScope&) = delete;
  ArenaScope& operator=(const ArenaScope&) = delete;

 private:
  std::shared_ptr<Allocator> previous_;
};

}  // namespace dragoman::tensor
