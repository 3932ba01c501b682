#pragma once

// Sums of columns in two kernels. For *.cu only.

#include "kernels/cuda/device_math-inl.h"

namespace dragoman::kernels::cuda {
namespace {

constexpr unsigned kThreads = 256;

// Column sums: a block adds up a chunk of the rows of 256 columns, eight columns a lane, and a second kernel adds up
// the chunks in order.
constexpr int kSumRows = 8;  // rows that a block reads at once
static_assert(kSumRows * kWarp == kThreads);
constexpr int kSumColumns = kWarp * kGroup;

// Rows of a chunk: a number of chunks that fills a GPU if there are enough rows.
int64_t rows_of_chunk(const Extent& extent) {
  constexpr int64_t kBlocks = 2048, kMostChunks = 256, kFewestChunks = 16;
  const int64_t across = blocks_for(extent.columns, kSumColumns);
  const int64_t wanted = kBlocks / (across == 0 ? 1 : across);
  const int64_t chunks = wanted > kMostChunks ? kMostChunks : wanted < kFewestChunks ? kFewestChunks : wanted;
  const int64_t rows = (extent.rows + chunks - 1) / chunks;
  return (rows + 31) / 32 * 32;
}

// Op::operator()(row, group, left, terms) adds kSums terms of each of the first `left` columns of a group.
template <typename Op>
__global__ void __launch_bounds__(kThreads) column_parts(Op op, Extent extent, int64_t chunk, float* parts) {
  alignas(16) __shared__ float sums[kSumRows][Op::kSums][kSumColumns];
  const int lane = lane_number(), warp = warp_number();
  const int64_t group = static_cast<int64_t>(blockIdx.x) * kWarp + lane, begin = blockIdx.y * chunk;
  const int64_t end = begin + chunk < extent.rows ? begin + chunk : extent.rows;
  const int64_t left = extent.columns - group * kGroup;
  Eight terms[Op::kSums] = {};
  if (left > 0) {
    for (int64_t row = begin + warp; row < end; row += kSumRows) {
      op(row, group, left, terms);
    }
  }
  for (int k = 0; k < Op::kSums; ++k) {
    store8(terms[k], &sums[warp][k][lane * kGroup], kGroup);
  }
  __syncthreads();
  const int64_t column = static_cast<int64_t>(blockIdx.x) * kSumColumns + threadIdx.x;
  if (column < extent.columns) {
    for (int k = 0; k < Op::kSums; ++k) {
      float sum = 0;
      for (int i = 0; i < kSumRows; ++i) {
        sum += sums[i][k][threadIdx.x];
      }
      parts[(static_cast<int64_t>(blockIdx.y) * Op::kSums + k) * extent.columns + column] = sum;
    }
  }
}

// A block has 32 columns; a warp adds up every eighth chunk.
__global__ void __launch_bounds__(kThreads) column_totals(const float* parts, int64_t chunks, int64_t arrays,
                                                          int64_t columns, bool adds, float* first, float* second) {
  __shared__ float sums[kSumRows][kWarp];
  const int lane = lane_number(), warp = warp_number();
  const int64_t i = static_cast<int64_t>(blockIdx.x) * kWarp + lane, width = arrays * columns;
  float sum = 0;
  if (i < width) {
    DRAGOMAN_UNROLL_8
    for (int64_t chunk = warp; chunk < chunks; chunk += kSumRows) {
      sum += parts[chunk * width + i];
    }
  }
  sums[warp][lane] = sum;
  __syncthreads();
  if (warp != 0 || i >= width) {
    return;
  }
  float* const to = i < columns ? first + i : second + (i - columns);
  sum = adds ? *to : 0.0F;
  for (const auto& of_warp : sums) {
    sum += of_warp[lane];
  }
  *to = sum;
}

template <typename Op>
void sum_columns(const char* name, const Op& op, const Extent& extent, bool adds, float* scratch, float* first,
                 float* second) {
  const int64_t chunk = rows_of_chunk(extent), chunks = extent.rows == 0 ? 0 : (extent.rows + chunk - 1) / chunk;
  launch(name, column_parts<Op>,
         {dim3(blocks_for(extent.columns, kSumColumns), static_cast<unsigned>(chunks)), kThreads}, op, extent, chunk,
         scratch);
  const int64_t arrays = Op::kSums;
  launch(name, column_totals, {dim3(blocks_for(arrays * extent.columns, kWarp)), kThreads},
         static_cast<const float*>(scratch), chunks, arrays, extent.columns, adds, first, second);
}

}  // namespace
}  // namespace dragoman::kernels::cuda
