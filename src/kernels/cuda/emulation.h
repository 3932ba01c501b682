#pragma once

// Blocks of threads of CUDA on the host: a block runs as fibers of one host thread, one block after another. The
// emulation finds missing barriers (with other orders of threads), overruns of shared memory (with AddressSanitizer),
// and warp-wide calls that some lanes of a warp do not reach. It says nothing about speed.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>

namespace dragoman::kernels::cuda::emulation {

/// The number of a thread in its block, of a block in its grid, or the size of a block or grid: CUDA's dim3.
struct Index {
  unsigned x, y, z;
  constexpr Index(unsigned width = 1, unsigned height = 1, unsigned depth = 1) : x(width), y(height), z(depth) {}
};

/// The order in which blocks run, and the threads of a block between two barriers. A kernel without races gives the
/// same bits in each.
enum class Order { kRising, kFalling, kShuffled };

/// Sets the order of all later launches. Threads: call while no kernel runs.
void set_order(Order blocks, Order threads);

/// Runs every block of a grid. `thread` is the body of one thread. Ends the program, with a message that names the
/// kernel, if threads wait at different barriers or lanes miss a warp-wide call.
/// Threads: any; launches wait for each other.
void run_grid(const char* name, Index grid, unsigned threads, size_t shared, const std::function<void()>& thread);

const Index& thread_index();
const Index& block_index();
const Index& block_size();
const Index& grid_size();
void* dynamic_shared();

void wait_for_block();
void wait_for_warp();
/// Gives `value` to the warp and returns the value of another lane.
uint64_t exchange(uint64_t value, int lane);
int lane_of_thread();

template <typename T>
T exchange_value(T value, int lane) {
  static_assert(sizeof(T) <= sizeof(uint64_t));
  uint64_t given = 0;
  std::memcpy(&given, &value, sizeof(T));
  const uint64_t taken = exchange(given, lane);
  std::memcpy(&value, &taken, sizeof(T));
  return value;
}

}  // namespace dragoman::kernels::cuda::emulation
