#include "kernels/cuda/int8_products.h"

#include "kernels/cuda/device_math-inl.h"

namespace dragoman::kernels::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / kWarp;
constexpr float kLargestInt8 = 127.0F;
constexpr int64_t kBytes = 16;  // that a lane reads at once

struct RowsToRound {
  Matrix<float> x;
  Extent extent;
  int8_t* values;
  int64_t padded;
  float* scales;
};

// A warp has a row.
__global__ void __launch_bounds__(kThreads) round_rows(RowsToRound rows) {
  const int64_t row = static_cast<int64_t>(blockIdx.x) * kWarps + warp_number();
  if (row >= rows.extent.rows) {
    return;
  }
  const float* const from = rows.x.data + row * rows.x.stride;
  float largest = 0;
  for (int64_t k = lane_number(); k < rows.extent.columns; k += kWarp) {
    largest = fmaxf(largest, fabsf(from[k]));
  }
  const float scale = over_warp(largest, Largest()) / kLargestInt8;
  const float inverse_scale = scale > 0 ? 1.0F / scale : 0.0F;
  int8_t* const to = rows.values + row * rows.padded;
  for (int64_t k = lane_number(); k < rows.padded; k += kWarp) {
    to[k] = k < rows.extent.columns ? static_cast<int8_t>(rintf(from[k] * inverse_scale)) : int8_t{0};
  }
  if (lane_number() == 0) {
    rows.scales[row] = scale;
  }
}

// sum + the products of four pairs of int8, which a word each has.
__device__ __forceinline__ int32_t dot4(uint32_t a, uint32_t b, int32_t sum) {
#if defined(__CUDA_ARCH__)
  return __dp4a(static_cast<int32_t>(a), static_cast<int32_t>(b), sum);
#else
  for (unsigned shift = 0; shift < 32U; shift += 8U) {
    sum += static_cast<int8_t>(a >> shift & 0xFFU) * static_cast<int8_t>(b >> shift & 0xFFU);
  }
  return sum;
#endif
}

__device__ __forceinline__ int32_t dot16(const uint4& a, const uint4& b, int32_t sum) {
  return dot4(a.w, b.w, dot4(a.z, b.z, dot4(a.y, b.y, dot4(a.x, b.x, sum))));
}

__device__ __forceinline__ uint4 load16(const int8_t* from) {
  return *reinterpret_cast<const uint4*>(from);
}

__device__ __forceinline__ void finish(const Int8Epilogue& epilogue, int64_t row, int64_t column, int32_t sum) {
  const float scale = epilogue.row_scales[row] * epilogue.column_scales[column];
  const float value = epilogue.bias == nullptr ? static_cast<float>(sum) * scale
                                               : fmaf(static_cast<float>(sum), scale, epilogue.bias[column]);
  epilogue.y.data[row * epilogue.y.stride + column] = epilogue.relu && value < 0 ? 0.0F : value;
}

// A warp has a column, and up to kRows rows.
template <int kRows>
__global__ void __launch_bounds__(kThreads)
    multiply_few(const int8_t* rows, const int8_t* columns, int64_t padded, Int8Epilogue epilogue) {
  const int64_t column = static_cast<int64_t>(blockIdx.x) * kWarps + warp_number();
  if (column >= epilogue.extent.columns) {
    return;
  }
  int32_t sums[kRows] = {};
  for (int64_t k = lane_number() * kBytes; k < padded; k += kWarp * kBytes) {
    const uint4 weights = load16(columns + column * padded + k);
    DRAGOMAN_UNROLL
    for (int row = 0; row < kRows; ++row) {
      if (row < epilogue.extent.rows) {
        sums[row] = dot16(load16(rows + row * padded + k), weights, sums[row]);
      }
    }
  }
  DRAGOMAN_UNROLL
  for (int row = 0; row < kRows; ++row) {
    const int32_t sum = over_warp(sums[row], Sum());
    if (lane_number() == 0 && row < epilogue.extent.rows) {
      finish(epilogue, row, column, sum);
    }
  }
}

// A thread has an element.
__global__ void __launch_bounds__(kThreads)
    multiply_elements(const int8_t* rows, const int8_t* columns, int64_t padded, Int8Epilogue epilogue) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= epilogue.extent.rows * epilogue.extent.columns) {
    return;
  }
  const int64_t row = i / epilogue.extent.columns, column = i % epilogue.extent.columns;
  int32_t sum = 0;
  for (int64_t k = 0; k < padded; k += kBytes) {
    sum = dot16(load16(rows + row * padded + k), load16(columns + column * padded + k), sum);
  }
  finish(epilogue, row, column, sum);
}

__global__ void __launch_bounds__(kThreads) finish_sums(const int32_t* sums, int64_t stride, Int8Epilogue epilogue) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i < epilogue.extent.rows * epilogue.extent.columns) {
    const int64_t row = i / epilogue.extent.columns, column = i % epilogue.extent.columns;
    finish(epilogue, row, column, sums[row * stride + column]);
  }
}

__global__ void __launch_bounds__(kThreads)
    gather_elements(Int8Rows table, int64_t padded, const int32_t* ids, float scale, Matrix<float> y, Extent extent) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i < extent.rows * extent.columns) {
    const int64_t row = i / extent.columns, column = i % extent.columns, id = ids[row];
    const float value = static_cast<float>(table.values[id * padded + column]) * table.scales[id];
    y.data[row * y.stride + column] = value * scale;
  }
}

template <int kRows>
void launch_few(const Int8Rows& rows, const Int8Rows& columns, int64_t padded, const Int8Epilogue& epilogue) {
  launch("multiply_int8", multiply_few<kRows>, {dim3(blocks_for(epilogue.extent.columns, kWarps)), kThreads},
         rows.values, columns.values, padded, epilogue);
}

LaunchShape elements_shape(const Extent& extent) {
  return {dim3(blocks_for(extent.rows * extent.columns, kThreads)), kThreads};
}

}  // namespace

void quantise_rows(const Matrix<float>& x, const Extent& extent, int8_t* values, int64_t padded, float* scales) {
  launch("quantise_rows", round_rows, {dim3(blocks_for(extent.rows, kWarps)), kThreads},
         RowsToRound{x, extent, values, padded, scales});
}

void multiply_int8(const Int8Rows& rows, const Int8Rows& columns, int64_t padded, const Int8Epilogue& epilogue) {
  if (epilogue.extent.rows <= 1) {
    launch_few<1>(rows, columns, padded, epilogue);
  } else if (epilogue.extent.rows <= 2) {
    launch_few<2>(rows, columns, padded, epilogue);
  } else if (epilogue.extent.rows <= 4) {
    launch_few<4>(rows, columns, padded, epilogue);
  } else if (epilogue.extent.rows <= kFewRows) {
    launch_few<kFewRows>(rows, columns, padded, epilogue);
  } else {
    launch("multiply_int8", multiply_elements, elements_shape(epilogue.extent), rows.values, columns.values, padded,
           epilogue);
  }
}

void finish_int8(const int32_t* sums, int64_t stride, const Int8Epilogue& epilogue) {
  launch("finish_int8", finish_sums, elements_shape(epilogue.extent), sums, stride, epilogue);
}

void gather_int8_rows(const Int8Rows& table, int64_t padded, const int32_t* ids, float scale, const Matrix<float>& y,
                      const Extent& extent) {
  launch("gather_int8_rows", gather_elements, elements_shape(extent), table, padded, ids, scale, y, extent);
}

}  // namespace dragoman::kernels::cuda
