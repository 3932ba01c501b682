#include "tensor/arena.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "base/random.h"

namespace dragoman::tensor {
namespace {

TEST(Arena, HandsOutAlignedBlocksThatDoNotOverlap) {
  Arena arena;
  base::Random random(1);
  struct Held {
    char* block;
    size_t bytes;
    char mark;
  };
  std::vector<Held> held;
  for (int round = 0; round < 3000; ++round) {
    if (!held.empty() && random.below(2) == 0) {
      const size_t index = random.below(held.size());
      for (size_t byte = 0; byte < held[index].bytes; ++byte) {
        ASSERT_EQ(held[index].block[byte], held[index].mark) << "a neighbour wrote into this block";
      }
      arena.release(held[index].block);
      held.erase(held.begin() + static_cast<std::ptrdiff_t>(index));
    } else {
      const size_t bytes = 1 + random.below(20000);
      char* block = static_cast<char*>(arena.allocate(bytes));
      ASSERT_EQ(reinterpret_cast<uintptr_t>(block) % 64, 0U);
      std::memset(block, round % 127, bytes);
      held.push_back({block, bytes, static_cast<char>(round % 127)});
    }
  }
  for (const Held& one : held) {
    arena.release(one.block);
  }
  EXPECT_EQ(arena.counters().live_bytes, 0U);
}

TEST(Arena, WarmRoundsAskTheSystemForNothing) {
  Arena arena;
  const auto round = [&arena](uint64_t seed) {
    base::Random random(seed);
    std::vector<void*> blocks;
    for (int block = 0; block < 100; ++block) {
      blocks.push_back(arena.allocate(1000 + random.below(200000)));
    }
    for (void* block : blocks) {
      arena.release(block);
    }
  };
  round(7);
  const uint64_t warm = arena.counters().system_requests;
  for (int repeat = 0; repeat < 20; ++repeat) {
    round(7);
  }
  EXPECT_EQ(arena.counters().system_requests, warm) << "the same sizes again must come from the cache";
}

TEST(Arena, JoinsNeighboursSoThatALargeBlockFitsAgain) {
  Arena arena;
  std::vector<void*> blocks;
  for (int block = 0; block < 15; ++block) {
    blocks.push_back(arena.allocate(size_t{1} << 20));
  }
  for (const size_t index : {3, 1, 2, 0, 14, 4, 6, 5, 7, 9, 8, 13, 11, 12, 10}) {
    arena.release(blocks[index]);
  }
  const uint64_t requests = arena.counters().system_requests;
  arena.release(arena.allocate(size_t{15} << 20));
  EXPECT_EQ(arena.counters().system_requests, requests);
}

TEST(Arena, GivesBackTheRegionsThatNothingLiesIn) {
  Arena arena;
  void* kept = arena.allocate(1000);
  arena.release(arena.allocate(size_t{100} << 20));
  const uint64_t held = arena.counters().system_bytes;
  arena.give_back();
  EXPECT_LT(arena.counters().system_bytes, held - (uint64_t{99} << 20));
  EXPECT_GT(arena.counters().system_bytes, 1000U) << "a block is in use";
  std::memset(kept, 1, 1000);
  void* again = arena.allocate(size_t{100} << 20);
  std::memset(again, 1, size_t{100} << 20);
  arena.release(again);
  arena.release(kept);
  arena.give_back();
  EXPECT_EQ(arena.counters().system_bytes, 0U);
}

TEST(Arena, ReserveMakesTheNextAllocationFree) {
  Arena arena;
  arena.reserve(size_t{100} << 20);
  const uint64_t requests = arena.counters().system_requests;
  arena.release(arena.allocate(size_t{100} << 20));
  EXPECT_EQ(arena.counters().system_requests, requests);
}

}  // namespace
}  // namespace dragoman::tensor
