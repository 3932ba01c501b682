#pragma once

// Blocks of threads of CUDA on the host: a block runs as fibers of one host thread, one block after another. The
// emulation finds missing barriers and races of blocks (other orders give other bits), warp-wide calls that lanes miss,
// barriers at different places, and arguments that point to the host's memory. Under ThreadSanitizer it finds races of
// the threads of a block in any order, and under AddressSanitizer overruns. It says nothing about speed.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <source_location>
#include <type_traits>

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
/// kernel, if threads wait at different barriers, if lanes miss a warp-wide call whose mask names them, or if a lane
/// takes a value of a lane that the mask does not name. Barriers order memory; an exchange of values does not.
/// Threads: any; launches wait for each other.
void run_grid(const char* name, Index grid, unsigned threads, size_t shared, const std::function<void()>& thread);

const Index& thread_index();
const Index& block_index();
const Index& block_size();
const Index& grid_size();
void* dynamic_shared();

inline constexpr uint32_t kWholeWarp = 0xFFFFFFFFU;

void wait_for_block(std::source_location place = std::source_location::current());
/// @param mask  the lanes that must come, bit by bit; lanes that the block does not have are left out
void wait_for_warp(uint32_t mask = kWholeWarp);
/// Gives `value` to the lanes of `mask` and returns the value of another lane.
uint64_t exchange(uint64_t value, int lane, uint32_t mask);
int lane_of_thread();

template <typename T>
T exchange_value(T value, int lane, uint32_t mask = kWholeWarp) {
  static_assert(sizeof(T) <= sizeof(uint64_t));
  uint64_t given = 0;
  std::memcpy(&given, &value, sizeof(T));
  const uint64_t taken = exchange(given, lane, mask);
  std::memcpy(&value, &taken, sizeof(T));
  return value;
}

/// Ends the program, with a message that names the kernel, if `address` is neither null nor in the memory of the device
/// (runtime_emulated.cpp).  @param position  the number of the argument, from 1
void check_address(const char* kernel, int position, const void* address);

/// Checks the addresses of a launch: pointers, and matrices with their `data`.
template <typename T>
void check_argument(const char* kernel, int position, const T& argument) {
  if constexpr (std::is_pointer_v<T>) {
    check_address(kernel, position, argument);
  } else if constexpr (requires { static_cast<const void*>(argument.data); }) {
    check_address(kernel, position, argument.data);
  }
}
template <typename... Arguments>
void check_arguments(const char* kernel, const Arguments&... arguments) {
  int position = 0;
  (check_argument(kernel, ++position, arguments), ...);
}

}  // namespace dragoman::kernels::cuda::emulation
