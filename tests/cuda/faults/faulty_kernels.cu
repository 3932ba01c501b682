#include "cuda/faults/faulty_kernels.h"

#include "kernels/cuda/device_math-inl.h"

namespace dragoman::kernels::cuda::faults {
namespace {

constexpr int kHalf = kThreads / 2;
constexpr unsigned kFirstHalf = 0x0000FFFFU;  // of a warp

__device__ __forceinline__ int thread_number() {
  return static_cast<int>(threadIdx.x);
}

__device__ __forceinline__ int element_number() {
  return static_cast<int>(blockIdx.x) * kThreads + thread_number();
}

template <Version version>
__global__ void reverse(const float* x, float* y) {
  __shared__ float values[kThreads];
  values[thread_number()] = x[element_number()];
  if constexpr (version == Version::kRight) {
    __syncthreads();
  }
  y[element_number()] = values[kThreads - 1 - thread_number()];
}

template <Version version>
__global__ void use_again(const float* x, float* y) {
  __shared__ float values[kThreads];
  float sum = 0;
  for (int round = 1; round <= 2; ++round) {
    values[thread_number()] = static_cast<float>(round) * x[element_number()];
    __syncthreads();
    sum += values[(thread_number() + kHalf) % kThreads];
    if constexpr (version == Version::kRight) {
      __syncthreads();
    }
  }
  y[element_number()] = sum;
}

template <Version version>
__global__ void shift(const float* x, float* y) {
  __shared__ float values[kThreads];
  const int before = thread_number() % kWarp == 0 ? thread_number() : thread_number() - 1;
  values[thread_number()] = x[element_number()];
  if constexpr (version == Version::kRight) {
    __syncwarp();
  } else {
    y[element_number()] = __shfl_xor_sync(kAllLanes, 1.0F, 1);
  }
  y[element_number()] = values[before];
}

template <Version version>
__global__ void write_equal(const float* x, float* y) {
  y[element_number()] = x[0] + 1.0F;
  if constexpr (version == Version::kFaulty) {
    y[(element_number() + kHalf) % kCount] = x[0] + 1.0F;
  }
}

template <Version version>
__global__ void sum_of_block(const float* x, float* y) {
  const float sum = over_block(x[element_number()], Sum());
  y[element_number()] = sum;
  if (version == Version::kFaulty && thread_number() == 0) {
    y[0] = sum;
  }
}

template <Version version>
__global__ void copy(const float* x, float* y) {
  if (version == Version::kRight || element_number() + 1 < kCount) {
    y[element_number()] = x[element_number()];
  }
}

template <Version version>
__global__ void add(const float* x, float* y) {
  y[element_number()] = x[element_number()] + (version == Version::kRight ? 0.0F : y[element_number()]);
}

template <Version version>
__global__ void exchange_halves(const float* x, float* y) {
  const float value = x[element_number()];
  y[element_number()] = value;
  if (lane_number() < kWarp / 2) {
    y[element_number()] += __shfl_xor_sync(version == Version::kRight ? kFirstHalf : kAllLanes, value, 1);
  }
}

template <Version version>
__global__ void take(const float* x, float* y) {
  const unsigned lanes = lane_number() < kWarp / 2 ? kFirstHalf : ~kFirstHalf;
  y[element_number()] = __shfl_xor_sync(lanes, x[element_number()], version == Version::kRight ? 1 : kWarp / 2);
}

template <Version version>
__global__ void wait_apart(const float* x, float* y) {
  if (version == Version::kRight || warp_number() == 0) {
    __syncthreads();
  } else {
    __syncthreads();
  }
  y[element_number()] = x[element_number()];
}

__global__ void copy_dynamic(const float* x, float* y) {
  DRAGOMAN_DYNAMIC_SHARED(float, values);
  values[thread_number()] = x[element_number()];
  y[element_number()] = values[thread_number()];
}

template <Version version>
__global__ void copy_array(const float* x, float* y) {
  __shared__ float values[version == Version::kRight ? kThreads : kThreads - 1];
  values[thread_number()] = x[element_number()];
  y[element_number()] = values[thread_number()];
}

template <Version version>
__global__ void copy_more(const float* x, float* y) {
  y[element_number() + (version == Version::kRight ? 0 : 1)] = x[element_number()];
}

constexpr LaunchShape shape_with(size_t shared) {
  return {dim3(kBlocks), kThreads, shared};
}

}  // namespace

// Launches the right or the faulty version of a kernel.
#define DRAGOMAN_LAUNCH(kernel, ...)                                       \
  if (version == Version::kRight) {                                        \
    launch(#kernel, kernel<Version::kRight>, shape_with(0), __VA_ARGS__);  \
  } else {                                                                 \
    launch(#kernel, kernel<Version::kFaulty>, shape_with(0), __VA_ARGS__); \
  }

void reverse_blocks(Version version, const float* x, float* y) {
  DRAGOMAN_LAUNCH(reverse, x, y)
}
void use_shared_memory_again(Version version, const float* x, float* y) {
  DRAGOMAN_LAUNCH(use_again, x, y)
}
void shift_in_warps(Version version, const float* x, float* y) {
  DRAGOMAN_LAUNCH(shift, x, y)
}
void write_equal_values(Version version, const float* x, float* y) {
  DRAGOMAN_LAUNCH(write_equal, x, y)
}
void sum_blocks(Version version, const float* x, float* y) {
  DRAGOMAN_LAUNCH(sum_of_block, x, y)
}
void copy_all(Version version, const float* x, float* y) {
  DRAGOMAN_LAUNCH(copy, x, y)
}
void add_to_nothing(Version version, const float* x, float* y) {
  DRAGOMAN_LAUNCH(add, x, y)
}
void exchange_in_half_warps(Version version, const float* x, float* y) {
  DRAGOMAN_LAUNCH(exchange_halves, x, y)
}
void take_from_neighbour(Version version, const float* x, float* y) {
  DRAGOMAN_LAUNCH(take, x, y)
}
void wait_in_branches(Version version, const float* x, float* y) {
  DRAGOMAN_LAUNCH(wait_apart, x, y)
}
void copy_by_dynamic_memory(Version version, const float* x, float* y) {
  constexpr size_t kBytes = kThreads * sizeof(float);
  launch("copy_dynamic", copy_dynamic, shape_with(version == Version::kRight ? kBytes : kBytes / 2), x, y);
}
void copy_by_shared_array(Version version, const float* x, float* y) {
  DRAGOMAN_LAUNCH(copy_array, x, y)
}
void copy_too_many(Version version, const float* x, float* y) {
  DRAGOMAN_LAUNCH(copy_more, x, y)
}
#undef DRAGOMAN_LAUNCH

}  // namespace dragoman::kernels::cuda::faults
