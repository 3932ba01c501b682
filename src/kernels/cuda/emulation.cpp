#include "kernels/cuda/emulation.h"

#include <algorithm>
#include <array>
#include <boost/context/fiber.hpp>
#include <boost/context/fixedsize_stack.hpp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <numeric>
#include <random>
#include <vector>

// ThreadSanitizer's part of a program that is linked with it; null otherwise. This file itself is compiled without
// it: the scheduler reads what the threads of a block write, and is no part of the kernel.
extern "C" {
[[gnu::weak]] void* __tsan_get_current_fiber();
[[gnu::weak]] void* __tsan_create_fiber(unsigned flags);
[[gnu::weak]] void __tsan_switch_to_fiber(void* fiber, unsigned flags);
[[gnu::weak]] void __tsan_acquire(void* object);
[[gnu::weak]] void __tsan_release(void* object);
}

namespace dragoman::kernels::cuda::emulation {
namespace {

namespace context = boost::context;

constexpr unsigned kLanes = 32, kMostThreads = 1024;
constexpr int kNoLane = -1;
constexpr unsigned kNoOrder = 1;                           // a switch of fibers orders nothing
constexpr size_t kStackBytes = (size_t{64} << 10) + 1088;  // not a power of two: tops of stacks share no cache set

enum class State { kReady, kAtWarp, kAtBlock, kDone };

// One thread of the block. Its fiber runs the body of one block after another.
struct Thread {
  context::fiber fiber;     // where the thread stands while it does not run
  void* checked = nullptr;  // the fiber as ThreadSanitizer knows it
  Index index;
  State state = State::kDone;
  uint32_t mask = 0;                   // of the warp-wide call that it waits at
  int from = kNoLane;                  // the lane whose value it takes there
  uint64_t value = 0;                  // what it gives, then what it takes
  unsigned at_warp = 0, at_block = 0;  // barriers of the warp and of the block that it has passed
  std::source_location place;          // of the barrier that it waits at
};

// What ThreadSanitizer is told that barriers order: two objects by turns, because a barrier orders what came before it
// and not what threads do between it and the next.
struct Barrier {
  char sides[2];
};

struct Block {
  const char* name = "";
  Index grid, size, index;
  std::unique_ptr<unsigned char[]> shared;
  const std::function<void()>* body = nullptr;
  Thread* running = nullptr;
  context::fiber scheduler;        // where run_warp stands while a thread runs
  context::fiber* left = nullptr;  // where the fiber that was left last is kept
  void* checked_scheduler = nullptr;
  unsigned threads = 0;
  std::vector<Thread*> turns;  // the warp that runs, in its order
  size_t turn = 0;             // of the thread that runs
  std::vector<std::unique_ptr<Thread>> pool;
  Barrier of_warps[kMostThreads / kLanes], of_block, begin_and_end;
};

Block& block() {
  static Block& instance = *new Block;  // never destroyed: its fibers are suspended inside their loop
  return instance;
}

Order block_order = Order::kRising, thread_order = Order::kRising;

template <typename... Values>
[[noreturn]] void end(const char* format, Values... values) {
  std::fprintf(stderr, "emulation: kernel %s: ", block().name);
  std::fprintf(stderr, format, values...);
  std::fputc('\n', stderr);
  std::abort();
}

void switch_to(void* checked) {
  if (__tsan_switch_to_fiber != nullptr) {
    __tsan_switch_to_fiber(checked, kNoOrder);
  }
}

void release(char& side) {
  if (__tsan_release != nullptr) {
    __tsan_release(&side);
  }
}

void acquire(char& side) {
  if (__tsan_acquire != nullptr) {
    __tsan_acquire(&side);
  }
}

// Goes to another fiber, and keeps in `self` where to come back to.
void go(context::fiber& self, context::fiber& to) {
  block().left = &self;
  context::fiber before = std::move(to).resume();
  *block().left = std::move(before);
}

// The next thread of the warp that can run; null if there is none.
Thread* next_turn() {
  Block& b = block();
  while (b.turn < b.turns.size() && b.turns[b.turn]->state != State::kReady) {
    ++b.turn;
  }
  return b.turn < b.turns.size() ? b.turns[b.turn] : nullptr;
}

void go_to_thread(context::fiber& self, Thread& thread) {
  block().running = &thread;
  switch_to(thread.checked);
  go(self, thread.fiber);
}

// Lets the next thread of the warp run, or else run_warp.
void leave(Thread& self) {
  if (Thread* const next = next_turn()) {
    go_to_thread(self.fiber, *next);
    return;
  }
  switch_to(block().checked_scheduler);
  go(self.fiber, block().scheduler);
}

std::unique_ptr<Thread> make_thread() {
  auto thread = std::make_unique<Thread>();
  Thread* const self = thread.get();
  self->checked = __tsan_create_fiber == nullptr ? nullptr : __tsan_create_fiber(0);
  thread->fiber = context::fiber(std::allocator_arg, context::fixedsize_stack(kStackBytes),
                                 [self](context::fiber&& before) -> context::fiber {
                                   *block().left = std::move(before);
                                   for (;;) {
                                     acquire(block().begin_and_end.sides[0]);
                                     (*block().body)();
                                     release(block().begin_and_end.sides[1]);
                                     self->state = State::kDone;
                                     leave(*self);
                                   }
                                 });
  return thread;
}

void wait(State state) {
  Thread& self = *block().running;
  self.state = state;
  leave(self);
}

void wait_at(Barrier& barrier, unsigned& passed, State state) {
  char& side = barrier.sides[passed++ % 2];
  release(side);
  wait(state);
  acquire(side);
}

std::vector<unsigned> order_of(unsigned count, Order order) {
  std::vector<unsigned> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0U);
  if (order == Order::kFalling) {
    std::ranges::reverse(numbers);
  } else if (order == Order::kShuffled) {
    std::ranges::shuffle(numbers, std::mt19937(count));
  }
  return numbers;
}

Thread& lane_of(unsigned first, int lane) {
  return *block().pool[first + static_cast<unsigned>(lane)];
}

// Lets the lanes of a warp that wait at warp-wide calls go on, with the values that they take. Returns: false if there
// are none.
bool end_warp_wide_calls(unsigned first) {
  const int lanes = static_cast<int>(std::min(kLanes, block().threads - first));
  const uint32_t existing = kWholeWarp >> (static_cast<int>(kLanes) - lanes);
  uint32_t waiting = 0;
  for (int lane = 0; lane < lanes; ++lane) {
    waiting |= lane_of(first, lane).state == State::kAtWarp ? 1U << lane : 0U;
  }
  std::array<uint64_t, kLanes> taken{};
  for (int lane = 0; lane < lanes; ++lane) {
    const Thread& thread = lane_of(first, lane);
    if (thread.state != State::kAtWarp) {
      continue;
    }
    if ((thread.mask & existing & ~waiting) != 0) {
      end("not all lanes of a warp reached a warp-wide call: its mask is %08x, lanes %08x came", thread.mask, waiting);
    }
    if ((thread.mask >> lane & 1U) == 0) {
      end("lane %d makes a warp-wide call whose mask, %08x, does not name it", lane, thread.mask);
    }
    if (thread.from != kNoLane) {
      if (thread.from < 0 || thread.from >= lanes || (thread.mask >> thread.from & 1U) == 0) {
        end("lane %d takes the value of lane %d, which the mask %08x does not name", lane, thread.from, thread.mask);
      }
      taken[static_cast<size_t>(lane)] = lane_of(first, thread.from).value;
    }
  }
  for (int lane = 0; lane < lanes; ++lane) {
    Thread& thread = lane_of(first, lane);
    if (thread.state == State::kAtWarp) {
      thread.value = taken[static_cast<size_t>(lane)];
      thread.state = State::kReady;
    }
  }
  return waiting != 0;
}

// Runs the threads of a warp until each waits for the block or is done.
void run_warp(unsigned first, const std::vector<unsigned>& lanes) {
  Block& b = block();
  b.turns.clear();
  for (const unsigned lane : lanes) {
    if (first + lane < b.threads) {
      b.turns.push_back(b.pool[first + lane].get());
    }
  }
  do {
    b.turn = 0;
    if (Thread* const thread = next_turn()) {
      go_to_thread(b.scheduler, *thread);
    }
  } while (end_warp_wide_calls(first));
}

// Lets the threads that wait at a barrier go on. Threads that are done need not come. Returns: false if there are none.
bool end_barrier() {
  Block& b = block();
  const Thread* first = nullptr;
  for (unsigned i = 0; i < b.threads; ++i) {
    Thread& thread = *b.pool[i];
    if (thread.state != State::kAtBlock) {
      continue;
    }
    first = first == nullptr ? &thread : first;
    if (thread.place.line() != first->place.line() ||
        std::strcmp(thread.place.file_name(), first->place.file_name()) != 0) {
      end("threads %u and %u wait at different barriers: %s:%u and %s:%u", first->index.x, thread.index.x,
          first->place.file_name(), first->place.line(), thread.place.file_name(), thread.place.line());
    }
    thread.state = State::kReady;
  }
  return first != nullptr;
}

void run_block(const std::vector<unsigned>& warps, const std::vector<unsigned>& lanes) {
  Block& b = block();
  for (unsigned i = 0; i < b.threads; ++i) {
    b.pool[i]->index = Index(i);
    b.pool[i]->state = State::kReady;
    b.pool[i]->at_warp = b.pool[i]->at_block = 0;
  }
  release(b.begin_and_end.sides[0]);
  do {
    for (const unsigned warp : warps) {
      run_warp(warp * kLanes, lanes);
    }
  } while (end_barrier());
  acquire(b.begin_and_end.sides[1]);
}

}  // namespace

void set_order(Order blocks, Order threads) {
  block_order = blocks;
  thread_order = threads;
}

void run_grid(const char* name, Index grid, unsigned threads, size_t shared, const std::function<void()>& thread) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  Block& b = block();
  b.name = name;
  if (threads == 0 || threads > kMostThreads || shared > (size_t{227} << 10)) {
    end("a block has 1 to 1024 threads and at most 227 KiB of shared memory");
  }
  while (b.pool.size() < threads) {
    b.pool.push_back(make_thread());
  }
  b.grid = grid;
  b.size = Index(threads);
  b.threads = threads;
  b.body = &thread;
  b.checked_scheduler = __tsan_get_current_fiber == nullptr ? nullptr : __tsan_get_current_fiber();
  const std::vector<unsigned> warps = order_of((threads + kLanes - 1) / kLanes, thread_order);
  const std::vector<unsigned> lanes = order_of(kLanes, thread_order);
  for (const unsigned number : order_of(grid.x * grid.y * grid.z, block_order)) {
    b.index = Index(number % grid.x, number / grid.x % grid.y, number / grid.x / grid.y);
    b.shared.reset(shared == 0 ? nullptr : new unsigned char[shared]);
    std::fill_n(b.shared.get(), shared, 0xFF);  // NaN: what a block does not write it may not read
    run_block(warps, lanes);
  }
}

const Index& thread_index() {
  return block().running->index;
}
const Index& block_index() {
  return block().index;
}
const Index& block_size() {
  return block().size;
}
const Index& grid_size() {
  return block().grid;
}
void* dynamic_shared() {
  return block().shared.get();
}

void wait_for_block(std::source_location place) {
  Thread& self = *block().running;
  self.place = place;
  wait_at(block().of_block, self.at_block, State::kAtBlock);
}

void wait_for_warp(uint32_t mask) {
  Thread& self = *block().running;
  self.mask = mask;
  self.from = kNoLane;
  wait_at(block().of_warps[self.index.x / kLanes], self.at_warp, State::kAtWarp);
}

int lane_of_thread() {
  return static_cast<int>(block().running->index.x % kLanes);
}

uint64_t exchange(uint64_t value, int lane, uint32_t mask) {
  Thread& self = *block().running;
  self.mask = mask;
  self.from = lane;
  self.value = value;
  wait(State::kAtWarp);
  return self.value;
}

}  // namespace dragoman::kernels::cuda::emulation
