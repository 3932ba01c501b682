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

/// What an arena has done so far; tests read it to show that a warm step asks the system for nothing.
struct ArenaCounters {
  uint64_t system_requests = 0;  ///< times memory was asked from the system
  uint64_t system_bytes = 0;     ///< bytes held from the system
  uint64_t live_bytes = 0;       ///< bytes handed out now
  uint64_t peak_bytes = 0;       ///< most bytes handed out at once
};

/// A caching allocator: takes large regions (huge pages advised) from the system, hands out 64-byte aligned blocks
/// by best fit, joins neighbours when they come back, and returns nothing before it dies or is told to. A few small
/// blocks that came back last wait as they are for a request of just their size, for a step of a model asks for the
/// same sizes again and again. Touching fresh memory costs about 12 times reusing it on the machines this runs on, so
/// each worker keeps one arena for life. Thread-safe; meant to be used by one thread at a time, so the lock is never
/// contended. Blocks keep the arena alive (tensor storage holds a shared pointer to it).
class Arena {
 public:
  Arena() = default;
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// A block of at least `bytes`, aligned to 64 bytes, not initialised. Throws Error: "arena: the system refused
  /// N bytes (M already held); use smaller batches".
  void* allocate(size_t bytes);
  void release(void* block);
  /// Makes sure that `bytes` more can be handed out in one piece without asking the system.
  void reserve(size_t bytes);
  /// Returns to the system the regions that nothing lies in.
  void give_back();
  ArenaCounters counters() const;

  /// The arena that new tensors of this thread come from: the innermost ArenaScope, else one shared by the process.
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
