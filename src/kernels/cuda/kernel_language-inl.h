#pragma once

// The one include that gives a kernel source (*.cu) its two faces: device code of nvcc, or a host program that runs
// blocks of threads one after another (emulation-inl.h). Sources use threadIdx, blockIdx, blockDim, __shared__,
// __syncthreads and __shfl_xor_sync as in CUDA, and `launch` in place of <<<>>>.
// Rules for kernels: no atomics on floats, no block waits for another block, and all lanes of a warp reach a warp-wide
// call together.

#include <cstddef>
#include <cstdint>

#include "kernels/cuda/launch.h"
#include "kernels/cuda/recording.h"

#if defined(__CUDACC__)
#include <cuda_runtime.h>

// Dynamic shared memory of the block, as an array of T.
#define DRAGOMAN_DYNAMIC_SHARED(T, name)                          \
  extern __shared__ __align__(16) unsigned char dragoman_block[]; \
  T* const name = reinterpret_cast<T*>(dragoman_block)
#define DRAGOMAN_UNROLL _Pragma("unroll")
#define DRAGOMAN_UNROLL_8 _Pragma("unroll 8")
#else
#include "kernels/cuda/emulation-inl.h"
#define DRAGOMAN_UNROLL
#define DRAGOMAN_UNROLL_8
#endif

namespace dragoman::kernels::cuda {

inline constexpr int kWarp = 32;
inline constexpr unsigned kAllLanes = 0xFFFFFFFFU;

/// The size of a launch.
struct LaunchShape {
  dim3 grid;          ///< blocks; 0 in any direction launches nothing
  unsigned threads;   ///< of a block, at most 1024
  size_t shared = 0;  ///< bytes of dynamic shared memory of a block
};

/// Queues a kernel, or runs it at once in the emulation.  @param name  for errors
template <typename... Parameters, typename... Arguments>
void launch(const char* name, void (*kernel)(Parameters...), const LaunchShape& shape, const Arguments&... arguments) {
  if (shape.grid.x == 0 || shape.grid.y == 0 || shape.grid.z == 0) {
    return;
  }
  begin_launch();
#if defined(__CUDACC__)
  constexpr size_t kUsual = size_t{48} << 10;  // a block gets more only if the kernel is prepared for it
  if (shape.shared > kUsual) {
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shape.shared));
  }
  kernel<<<shape.grid, shape.threads, shape.shared, current_stream()>>>(arguments...);
#else
  emulation::check_arguments(name, arguments...);
  run_or_record(
      [=] { emulation::run_grid(name, shape.grid, shape.threads, shape.shared, [&] { kernel(arguments...); }); });
#endif
  check_launch(name);
}

/// Returns: the number of blocks of `each` that cover `count`.
inline unsigned blocks_for(int64_t count, int64_t each) {
  return static_cast<unsigned>((count + each - 1) / each);
}

}  // namespace dragoman::kernels::cuda
