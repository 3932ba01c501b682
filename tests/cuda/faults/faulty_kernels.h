#pragma once

#include <cstdint>

namespace dragoman::kernels::cuda::faults {

// Small kernels, each of which is right or has one planted fault. x and y are [kCount] float32 in device memory.

// kBlocks: the device's memory comes in sizes that are larger than kCount float32.
inline constexpr int kThreads = 64, kBlocks = 17, kCount = kThreads * kBlocks;

enum class Version { kRight, kFaulty };

/// Computes y = x with each block of kThreads reversed. The fault: no barrier between writing and reading.
void reverse_blocks(Version version, const float* x, float* y);
/// Computes y[i] = x[i + 32 of the block] + 2 x[i + 32 of the block]. The fault: no barrier before the shared memory is
/// written again.
void use_shared_memory_again(Version version, const float* x, float* y);
/// Computes y[i] = x[i - 1 of the warp]. The fault: no __syncwarp, only an exchange of values, which orders no memory.
void shift_in_warps(Version version, const float* x, float* y);
/// Writes x[0] + 1 to each element of y. The fault: two threads write to each element.
void write_equal_values(Version version, const float* x, float* y);
/// Writes the sum of x over a block to the elements of the block. The fault: each block also writes y[0].
void sum_blocks(Version version, const float* x, float* y);
/// Copies. The fault: the last element is not written.
void copy_all(Version version, const float* x, float* y);
/// Copies. The fault: y += x, and nothing was written to y.
void add_to_nothing(Version version, const float* x, float* y);
/// Adds the neighbour's value, in the first half of each warp. The fault: the mask names all lanes.
void exchange_in_half_warps(Version version, const float* x, float* y);
/// Takes the value of the neighbour. The fault: the value of a lane that the mask does not name.
void take_from_neighbour(Version version, const float* x, float* y);
/// Copies through a barrier. The fault: two warps wait at two barriers.
void wait_in_branches(Version version, const float* x, float* y);
/// Copies through dynamic shared memory. The fault: the launch has memory for half of it.
void copy_by_dynamic_memory(Version version, const float* x, float* y);
/// Copies through a shared array. The fault: the array is one element too short.
void copy_by_shared_array(Version version, const float* x, float* y);
/// Copies. The fault: one element more than y has.
void copy_too_many(Version version, const float* x, float* y);

}  // namespace dragoman::kernels::cuda::faults
