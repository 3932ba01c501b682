#include "kernels/cuda/emulation.h"

#include <algorithm>
#include <boost/context/fiber.hpp>
#include <boost/context/fixedsize_stack.hpp>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <numeric>
#include <random>
#include <vector>

namespace dragoman::kernels::cuda::emulation {
namespace {

namespace context = boost::context;

constexpr unsigned kLanes = 32;
constexpr size_t kStackBytes = (size_t{64} << 10) + 1088;  // not a power of two: tops of stacks share no cache set

enum class State { kReady, kAtWarp, kAtBlock, kDone };

// One thread of the block. Its fiber runs the body of one block after another.
struct Thread {
  context::fiber fiber, scheduler;
  Index index;
  State state = State::kDone;
  uint64_t given[2] = {};  // two slots by turns: no lane is two exchanges ahead of another
  unsigned turn = 0;
};

struct Block {
  const char* name = "";
  Index grid, size, index;
  std::unique_ptr<unsigned char[]> shared;
  const std::function<void()>* body = nullptr;
  Thread* running = nullptr;
  unsigned threads = 0;
  std::vector<std::unique_ptr<Thread>> pool;
};

Block& block() {
  static Block& instance = *new Block;  // never destroyed: its fibers are suspended inside their loop
  return instance;
}

Order block_order = Order::kRising, thread_order = Order::kRising;

[[noreturn]] void end(const char* text) {
  std::fprintf(stderr, "emulation: kernel %s: %s\n", block().name, text);
  std::abort();
}

std::unique_ptr<Thread> make_thread() {
  auto thread = std::make_unique<Thread>();
  Thread* const self = thread.get();
  thread->fiber = context::fiber(std::allocator_arg, context::fixedsize_stack(kStackBytes),
                                 [self](context::fiber&& s) -> context::fiber {
                                   self->scheduler = std::move(s);
                                   for (;;) {
                                     (*block().body)();
                                     self->state = State::kDone;
                                     self->scheduler = std::move(self->scheduler).resume();
                                   }
                                 });
  return thread;
}

void run(Thread& thread) {
  block().running = &thread;
  thread.fiber = std::move(thread.fiber).resume();
}

void wait(State state) {
  Thread& self = *block().running;
  self.state = state;
  self.scheduler = std::move(self.scheduler).resume();
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

// Runs the threads of a warp until each waits for the block or is done.
void run_warp(unsigned first, const std::vector<unsigned>& lanes) {
  Block& b = block();
  const unsigned last = std::min(first + kLanes, b.threads);
  for (;;) {
    for (const unsigned lane : lanes) {
      if (first + lane < last && b.pool[first + lane]->state == State::kReady) {
        run(*b.pool[first + lane]);
      }
    }
    const auto at_warp = std::count_if(b.pool.begin() + first, b.pool.begin() + last,
                                       [](const auto& thread) { return thread->state == State::kAtWarp; });
    if (at_warp == 0) {
      return;
    }
    const auto gone = std::count_if(b.pool.begin() + first, b.pool.begin() + last,
                                    [](const auto& thread) { return thread->state == State::kDone; });
    if (at_warp + gone != static_cast<std::ptrdiff_t>(last - first) || gone != 0) {
      end("not all lanes of a warp reached a warp-wide call");
    }
    for (unsigned i = first; i < last; ++i) {
      b.pool[i]->state = State::kReady;
    }
  }
}

void run_block(const std::vector<unsigned>& warps, const std::vector<unsigned>& lanes) {
  Block& b = block();
  for (unsigned i = 0; i < b.threads; ++i) {
    b.pool[i]->index = Index(i);
    b.pool[i]->state = State::kReady;
  }
  for (;;) {
    for (const unsigned warp : warps) {
      run_warp(warp * kLanes, lanes);
    }
    unsigned waiting = 0;
    for (unsigned i = 0; i < b.threads; ++i) {
      waiting += b.pool[i]->state == State::kAtBlock ? 1 : 0;
    }
    if (waiting == 0) {
      return;
    }
    for (unsigned i = 0; i < b.threads; ++i) {
      if (b.pool[i]->state == State::kAtBlock) {  // threads that are done need not come
        b.pool[i]->state = State::kReady;
      }
    }
  }
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
  if (threads == 0 || threads > 1024 || shared > (size_t{227} << 10)) {
    end("a block has 1 to 1024 threads and at most 227 KiB of shared memory");
  }
  while (b.pool.size() < threads) {
    b.pool.push_back(make_thread());
  }
  b.grid = grid;
  b.size = Index(threads);
  b.threads = threads;
  b.body = &thread;
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

void wait_for_block() {
  wait(State::kAtBlock);
}
void wait_for_warp() {
  wait(State::kAtWarp);
}

int lane_of_thread() {
  return static_cast<int>(block().running->index.x % kLanes);
}

uint64_t exchange(uint64_t value, int lane) {
  Thread& self = *block().running;
  const unsigned turn = self.turn++ & 1U;
  self.given[turn] = value;
  wait(State::kAtWarp);
  const unsigned other = self.index.x / kLanes * kLanes + static_cast<unsigned>(lane);
  return other < block().threads ? block().pool[other]->given[turn] : value;
}

}  // namespace dragoman::kernels::cuda::emulation
