#pragma once

#include <cuda_runtime.h>

#include "base/error.h"

namespace dragoman::kernels::cuda {

/// Throws: Error, "cuda: cudaMalloc: out of memory (cudaErrorMemoryAllocation)", unless a call succeeded. For sources
/// that NVIDIA's headers are there for.
inline void check(cudaError_t status, const char* call) {
  base::check(status == cudaSuccess, base::ErrorKind::kRuntime, "cuda: {}: {} ({})", call, cudaGetErrorString(status),
              cudaGetErrorName(status));
}

}  // namespace dragoman::kernels::cuda
