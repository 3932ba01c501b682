#include "kernels/cuda/norms.h"

#include "kernels/cuda/device_math-inl.h"

namespace dragoman::kernels::cuda {
namespace {

constexpr unsigned kThreads = 256;

// Column sums: a block adds up some rows of 32 columns, and a second kernel adds up the blocks in order.
constexpr int kSumRows = 8;  // rows that a block reads at once

int64_t rows_of_chunk(int64_t rows) {
  constexpr int64_t kMostChunks = 128;
  const int64_t least = (rows + kMostChunks - 1) / kMostChunks;
  return (least + 31) / 32 * 32;
}

// Op::operator()(row, column, terms) adds kSums terms of an element.
template <typename Op>
__global__ void __launch_bounds__(kThreads) column_parts(Op op, Extent extent, int64_t chunk, float* parts) {
  __shared__ float sums[kSumRows][Op::kSums][kWarp];
  const int lane = lane_number(), first = warp_number();
  const int64_t column = static_cast<int64_t>(blockIdx.x) * kWarp + lane, begin = blockIdx.y * chunk;
  const int64_t end = begin + chunk < extent.rows ? begin + chunk : extent.rows;
  float terms[Op::kSums] = {};
  if (column < extent.columns) {
    for (int64_t row = begin + first; row < end; row += kSumRows) {
      op(row, column, terms);
    }
  }
  for (int k = 0; k < Op::kSums; ++k) {
    sums[first][k][lane] = terms[k];
  }
  __syncthreads();
  if (first == 0 && column < extent.columns) {
    for (int k = 0; k < Op::kSums; ++k) {
      float sum = 0;
      for (int i = 0; i < kSumRows; ++i) {
        sum += sums[i][k][lane];
      }
      parts[(static_cast<int64_t>(blockIdx.y) * Op::kSums + k) * extent.columns + column] = sum;
    }
  }
}

__global__ void column_totals(const float* parts, int64_t chunks, int64_t arrays, int64_t columns, bool adds,
                              float* first, float* second) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= arrays * columns) {
    return;
  }
  float* to = i < columns ? first + i : second + (i - columns);
  float sum = adds ? *to : 0.0F;
  for (int64_t chunk = 0; chunk < chunks; ++chunk) {
    sum += parts[chunk * arrays * columns + i];
  }
  *to = sum;
}

template <typename Op>
void sum_columns(const char* name, const Op& op, const Extent& extent, bool adds, float* scratch, float* first,
                 float* second) {
  const int64_t chunk = rows_of_chunk(extent.rows), chunks = extent.rows == 0 ? 0 : (extent.rows + chunk - 1) / chunk;
  launch(name, column_parts<Op>, {dim3(blocks_for(extent.columns, kWarp), static_cast<unsigned>(chunks)), kThreads}, op,
         extent, chunk, scratch);
  const int64_t arrays = Op::kSums;
  launch(name, column_totals, {dim3(blocks_for(arrays * extent.columns, kThreads)), kThreads},
         static_cast<const float*>(scratch), chunks, arrays, extent.columns, adds, first, second);
}

template <typename T>
struct RowTerms {
  static constexpr int kSums = 1;
  Matrix<T> rows;
  __device__ void operator()(int64_t row, int64_t column, float* terms) const {
    terms[0] += widen(rows.data[row * rows.stride + column]);
  }
};

struct NormTerms {
  static constexpr int kSums = 2;
  Matrix<float> x, stats, grad_y;
  __device__ void operator()(int64_t row, int64_t column, float* terms) const {
    const float* of_row = stats.data + row * stats.stride;
    const float grad = grad_y.data[row * grad_y.stride + column];
    terms[0] += grad * (x.data[row * x.stride + column] - of_row[0]) * of_row[1];
    terms[1] += grad;
  }
};

// A warp has a row.
constexpr unsigned kRowsOfBlock = kThreads / kWarp;

// Adds dropout(sublayer) and writes the sum. Returns the values of this group.
template <typename T>
__device__ __forceinline__ Eight summed_group(const Norm& norm, const Matrix<T>& sublayer, int64_t row, int64_t group) {
  const int64_t left = norm.extent.columns - group * kGroup;
  Eight values = load8(at(norm.x, row, group), left);
  if (sublayer.data != nullptr) {
    Eight change = load8(at(sublayer, row, group), left);
    drop8(norm.mask, row, group, change);
    for (int i = 0; i < kGroup; ++i) {
      values.v[i] += change.v[i];
    }
    store8(values, at(norm.sum, row, group), left);
  }
  return values;
}

template <typename T>
__global__ void __launch_bounds__(kThreads) norm_rows(Norm norm, Matrix<T> sublayer) {
  const int64_t row = static_cast<int64_t>(blockIdx.x) * kRowsOfBlock + warp_number();
  if (row >= norm.extent.rows) {
    return;
  }
  const int64_t columns = norm.extent.columns, groups = (columns + kGroup - 1) / kGroup;
  const auto width = static_cast<float>(columns);
  const Matrix<float>& x = sublayer.data == nullptr ? norm.x : norm.sum;
  float total = 0;
  for (int64_t group = lane_number(); group < groups; group += kWarp) {
    const Eight values = summed_group(norm, sublayer, row, group);
    for (const float value : values.v) {
      total += value;
    }
  }
  if (norm.gain == nullptr) {
    return;
  }
  const float mean = over_warp(total, Sum()) / width;
  float squares = 0;
  for (int64_t group = lane_number(); group < groups; group += kWarp) {
    const int64_t left = columns - group * kGroup;
    const Eight values = load8(at(x, row, group), left);
    for (int i = 0; i < kGroup; ++i) {
      squares += i < left ? (values.v[i] - mean) * (values.v[i] - mean) : 0.0F;
    }
  }
  const float rstd = 1.0F / sqrtf(over_warp(squares, Sum()) / width + norm.epsilon);
  for (int64_t group = lane_number(); group < groups; group += kWarp) {
    const int64_t left = columns - group * kGroup;
    Eight values = load8(at(x, row, group), left);
    const Eight gain = load8(norm.gain + group * kGroup, left), bias = load8(norm.bias + group * kGroup, left);
    for (int i = 0; i < kGroup; ++i) {
      values.v[i] = (values.v[i] - mean) * rstd * gain.v[i] + bias.v[i];
    }
    store8(values, at(norm.y, row, group), left);
    if (norm.rounded.data != nullptr) {
      store8(values, at(norm.rounded, row, group), left);
    }
  }
  if (lane_number() == 0) {
    norm.stats.data[row * norm.stats.stride] = mean;
    norm.stats.data[row * norm.stats.stride + 1] = rstd;
  }
}

// g = dy * gain, and normal = (x - mean) * rstd, of a group.
struct NormGroup {
  Eight scaled, normal;
};
__device__ __forceinline__ NormGroup norm_group(const NormBackward& norm, int64_t row, int64_t group, float mean,
                                                float rstd) {
  const int64_t left = norm.extent.columns - group * kGroup;
  NormGroup result;
  const Eight x = load8(at(norm.x, row, group), left), grad = load8(at(norm.grad_y, row, group), left);
  const Eight gain = load8(norm.gain + group * kGroup, left);
  for (int i = 0; i < kGroup; ++i) {
    result.scaled.v[i] = grad.v[i] * gain.v[i];
    result.normal.v[i] = i < left ? (x.v[i] - mean) * rstd : 0.0F;
  }
  return result;
}

template <typename T>
__global__ void __launch_bounds__(kThreads) norm_rows_backward(NormBackward norm, Matrix<T> dropped) {
  const int64_t row = static_cast<int64_t>(blockIdx.x) * kRowsOfBlock + warp_number();
  if (row >= norm.extent.rows) {
    return;
  }
  const int64_t columns = norm.extent.columns, groups = (columns + kGroup - 1) / kGroup;
  const auto width = static_cast<float>(columns);
  const float mean = norm.stats.data[row * norm.stats.stride], rstd = norm.stats.data[row * norm.stats.stride + 1];
  float scaled = 0, projected = 0;
  for (int64_t group = lane_number(); group < groups; group += kWarp) {
    const NormGroup of_group = norm_group(norm, row, group, mean, rstd);
    for (int i = 0; i < kGroup; ++i) {
      scaled += of_group.scaled.v[i];
      projected += of_group.scaled.v[i] * of_group.normal.v[i];
    }
  }
  scaled = over_warp(scaled, Sum()) / width;
  projected = over_warp(projected, Sum()) / width;
  for (int64_t group = lane_number(); group < groups; group += kWarp) {
    const int64_t left = columns - group * kGroup;
    const NormGroup of_group = norm_group(norm, row, group, mean, rstd);
    Eight grad = {};
    for (int i = 0; i < kGroup; ++i) {
      grad.v[i] = rstd * (of_group.scaled.v[i] - scaled - of_group.normal.v[i] * projected);
    }
    store8(grad, at(norm.grad_x, row, group), left);
    if (dropped.data != nullptr) {
      drop8(norm.mask, row, group, grad);
      store8(grad, at(dropped, row, group), left);
    }
  }
}

}  // namespace

int64_t column_sum_scratch(const Extent& extent, int64_t arrays) {
  const int64_t chunk = rows_of_chunk(extent.rows);
  return extent.rows == 0 ? 1 : (extent.rows + chunk - 1) / chunk * arrays * extent.columns;
}

void sum_rows(const AnyMatrix& rows, const Extent& extent, float* scratch, float* sums) {
  if (rows.is_bfloat16) {
    sum_columns("sum_rows", RowTerms<BFloat16>{rows.as<BFloat16>()}, extent, true, scratch, sums, nullptr);
  } else {
    sum_columns("sum_rows", RowTerms<float>{rows.as<float>()}, extent, true, scratch, sums, nullptr);
  }
}

void layer_norm(const Norm& norm) {
  const LaunchShape shape{dim3(blocks_for(norm.extent.rows, kRowsOfBlock)), kThreads};
  if (norm.sublayer.is_bfloat16) {
    launch("layer_norm", norm_rows<BFloat16>, shape, norm, norm.sublayer.as<BFloat16>());
  } else {
    launch("layer_norm", norm_rows<float>, shape, norm, norm.sublayer.as<float>());
  }
}

void layer_norm_backward(const NormBackward& norm) {
  const LaunchShape shape{dim3(blocks_for(norm.extent.rows, kRowsOfBlock)), kThreads};
  if (norm.grad_dropped.is_bfloat16) {
    launch("layer_norm_backward", norm_rows_backward<BFloat16>, shape, norm, norm.grad_dropped.as<BFloat16>());
  } else {
    launch("layer_norm_backward", norm_rows_backward<float>, shape, norm, norm.grad_dropped.as<float>());
  }
  sum_columns("layer_norm_backward", NormTerms{norm.x, norm.stats, norm.grad_y}, norm.extent, false, norm.scratch,
              norm.grad_gain, norm.grad_bias);
}

}  // namespace dragoman::kernels::cuda
