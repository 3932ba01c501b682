#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

namespace dragoman::tensor {

/// The counters of an arena. Tests use them to show that a step after warm-up requests no memory from the system.
struct ArenaCounters {
  uint64_t system_requests = 0;  ///< number of requests to the system
  uint64_t system_bytes = 0;     ///< bytes obtained from the system
  uint64_t live_bytes = 0;       ///< allocated bytes
  uint64_t peak_bytes = 0;       ///< peak of the allocated bytes
};

/// A caching allocator. It obtains large regions, with huge pages advised, from the system and allocates 64-byte
/// aligned blocks by best fit. Free neighbours are merged. Regions return to the system only in give_back() and in the
/// destructor. The last small freed blocks are kept unmerged for requests of exactly their size, because a step of a
/// model requests equal sizes again and again. Touching new memory takes about 12 times as long as reusing it, so each
/// worker keeps one arena for its lifetime. Blocks keep the arena alive: the storage of a tensor holds a shared pointer
/// to the arena. Threads: any number, but the lock is meant to be uncontended: one thread at a time.
class Arena {
 public:
  Arena() = default;
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// Returns an uninitialised block of at least `bytes`, aligned to 64 bytes. Throws: Error, "arena: the system refused
  /// N bytes (M already held); use smaller batches".
  void* allocate(size_t bytes);
  void release(void* block);
  /// Ensures that one further block of `bytes` can be allocated without a request to the system.
  void reserve(size_t bytes);
  /// Returns all empty regions to the system.
  void give_back();
  ArenaCounters counters() const;

  /// Returns the arena for new tensors of this thread: that of the innermost ArenaScope, otherwise one shared by the
  /// process.
  static const std::shared_ptr<Arena>& current();

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

/// While alive, new tensors of this thread come from `arena`.
class [[nodiscard]] ArenaScope {
 public:
  explicit ArenaScope(std::shared_ptr<Arena> arena);
  ~ArenaScope();
  ArenaScope(const ArenaScope&) = delete;
  ArenaScope& operator=(const ArenaScope&) = delete;

 private:
  std::shared_ptr<Arena> previous_;
};

}  // namespace dragoman::tensor
