#pragma once

// Copies from global to shared memory that go on while the block computes. For *.cu only.

#include "kernels/cuda/kernel_language-inl.h"

#if !defined(__CUDACC__)
#include <cstring>
#include <vector>
#endif

namespace dragoman::kernels::cuda {

#if !defined(__CUDACC__)
// Copies are made by wait_for_copies, so that a kernel which forgets to wait reads what was there before.
struct WaitingCopy {
  void* to;
  const void* from;  // null for zeros
  size_t bytes;
};
inline std::vector<WaitingCopy>& waiting_copies() {
  static std::vector<WaitingCopy> of_thread[1024];  // launches wait for each other
  return of_thread[threadIdx.x];
}
#endif

// Copies kBytes, 4 or 16, from global to shared memory, or writes zeros. Both addresses are multiples of kBytes.
template <int kBytes>
__device__ __forceinline__ void begin_copy(void* to, const void* from, bool reads) {
  static_assert(kBytes == 4 || kBytes == 16);
#if defined(__CUDA_ARCH__)
  const auto shared = static_cast<uint32_t>(__cvta_generic_to_shared(to));
  const int bytes = reads ? kBytes : 0;
  if constexpr (kBytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared), "l"(from), "r"(bytes) : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(shared), "l"(from), "r"(bytes) : "memory");
  }
#elif !defined(__CUDACC__)
  waiting_copies().push_back({to, reads ? from : nullptr, kBytes});
#endif
}

// Waits for the copies that this thread began. Other threads see them after __syncthreads.
__device__ __forceinline__ void wait_for_copies() {
#if defined(__CUDA_ARCH__)
  asm volatile("cp.async.wait_all;" ::: "memory");
#elif !defined(__CUDACC__)
  for (const WaitingCopy& copy : waiting_copies()) {
    if (copy.from == nullptr) {
      std::memset(copy.to, 0, copy.bytes);
    } else {
      std::memcpy(copy.to, copy.from, copy.bytes);
    }
  }
  waiting_copies().clear();
#endif
}

}  // namespace dragoman::kernels::cuda
