#include "kernels/cuda/norms.h"

#include "kernels/cuda/column_sums-inl.h"

namespace dragoman::kernels::cuda {
namespace {

template <typename T>
struct RowTerms {
  static constexpr int kSums = 1;
  Matrix<T> rows;
  __device__ void operator()(int64_t row, int64_t group, int64_t left, Eight* terms) const {
    const Eight x = load8(at(rows, row, group), left);
    DRAGOMAN_UNROLL
    for (int i = 0; i < kGroup; ++i) {
      terms[0].v[i] += x.v[i];
    }
  }
};

struct NormTerms {
  static constexpr int kSums = 2;
  Matrix<float> x, stats, grad_y;
  __device__ void operator()(int64_t row, int64_t group, int64_t left, Eight* terms) const {
    const float mean = stats.data[row * stats.stride], rstd = stats.data[row * stats.stride + 1];
    const Eight values = load8(at(x, row, group), left), grad = load8(at(grad_y, row, group), left);
    DRAGOMAN_UNROLL
    for (int i = 0; i < kGroup; ++i) {
      terms[0].v[i] += grad.v[i] * (values.v[i] - mean) * rstd;
      terms[1].v[i] += grad.v[i];
    }
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

// Writes the normed values of a group.
__device__ __forceinline__ void write_normed(const Norm& norm, int64_t row, int64_t group, Eight values, float mean,
                                             float rstd) {
  const int64_t left = norm.extent.columns - group * kGroup;
  const Eight gain = load8(norm.gain + group * kGroup, left);
  const Eight bias = norm.bias == nullptr ? Eight{} : load8(norm.bias + group * kGroup, left);
  DRAGOMAN_UNROLL
  for (int i = 0; i < kGroup; ++i) {
    values.v[i] = (values.v[i] - mean) * rstd * gain.v[i] + bias.v[i];
  }
  store8(values, at(norm.y, row, group), left);
  if (norm.rounded.data != nullptr) {
    store8(values, at(norm.rounded, row, group), left);
  }
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
  const float mean = norm.centres ? over_warp(total, Sum()) / width : 0.0F;
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
    write_normed(norm, row, group, load8(at(x, row, group), columns - group * kGroup), mean, rstd);
  }
  if (lane_number() == 0) {
    norm.stats.data[row * norm.stats.stride] = mean;
    norm.stats.data[row * norm.stats.stride + 1] = rstd;
  }
}

// Does norm_rows with a row in registers. A lane has kParts groups.
template <typename T, int kParts>
__global__ void __launch_bounds__(kThreads) norm_narrow_rows(Norm norm, Matrix<T> sublayer) {
  const int64_t row = static_cast<int64_t>(blockIdx.x) * kRowsOfBlock + warp_number();
  if (row >= norm.extent.rows) {
    return;
  }
  const int64_t columns = norm.extent.columns;
  const auto width = static_cast<float>(columns);
  Eight values[kParts];
  float total = 0, squares = 0;
  DRAGOMAN_UNROLL
  for (int part = 0; part < kParts; ++part) {
    const int64_t group = lane_number() + part * kWarp;
    values[part] = group * kGroup < columns ? summed_group(norm, sublayer, row, group) : Eight{};
    for (const float value : values[part].v) {
      total += value;
    }
  }
  const float mean = norm.centres ? over_warp(total, Sum()) / width : 0.0F;
  DRAGOMAN_UNROLL
  for (int part = 0; part < kParts; ++part) {
    const int64_t left = columns - (lane_number() + part * kWarp) * kGroup;
    DRAGOMAN_UNROLL
    for (int i = 0; i < kGroup; ++i) {
      squares += i < left ? (values[part].v[i] - mean) * (values[part].v[i] - mean) : 0.0F;
    }
  }
  const float rstd = 1.0F / sqrtf(over_warp(squares, Sum()) / width + norm.epsilon);
  DRAGOMAN_UNROLL
  for (int part = 0; part < kParts; ++part) {
    const int64_t group = lane_number() + part * kWarp;
    if (group * kGroup < columns) {
      write_normed(norm, row, group, values[part], mean, rstd);
    }
  }
  if (lane_number() == 0) {
    norm.stats.data[row * norm.stats.stride] = mean;
    norm.stats.data[row * norm.stats.stride + 1] = rstd;
  }
}

// dy, dy * gain, and normal = (x - mean) * rstd, of a group.
struct NormGroup {
  Eight grad, scaled, normal;
};
__device__ __forceinline__ NormGroup norm_group(const NormBackward& norm, int64_t row, int64_t group, float mean,
                                                float rstd) {
  const int64_t left = norm.extent.columns - group * kGroup;
  NormGroup result;
  const Eight x = load8(at(norm.x, row, group), left);
  result.grad = load8(at(norm.grad_y, row, group), left);
  const Eight gain = load8(norm.gain + group * kGroup, left);
  for (int i = 0; i < kGroup; ++i) {
    result.scaled.v[i] = result.grad.v[i] * gain.v[i];
    result.normal.v[i] = i < left ? (x.v[i] - mean) * rstd : 0.0F;
  }
  return result;
}

template <typename T>
__device__ __forceinline__ void write_norm_gradient(const NormBackward& norm, const Matrix<T>& dropped, int64_t row,
                                                    int64_t group, const NormGroup& of_group, float rstd, float scaled,
                                                    float projected) {
  const int64_t left = norm.extent.columns - group * kGroup;
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
  scaled = norm.centres ? over_warp(scaled, Sum()) / width : 0.0F;
  projected = over_warp(projected, Sum()) / width;
  for (int64_t group = lane_number(); group < groups; group += kWarp) {
    write_norm_gradient(norm, dropped, row, group, norm_group(norm, row, group, mean, rstd), rstd, scaled, projected);
  }
}

// Adds up the columns of eight warps and writes the sums of a block, one of two arrays.
__device__ __forceinline__ void write_block_sums(const Eight& terms, float (&sums)[kSumRows][kSumColumns],
                                                 int64_t first_column, int64_t columns, float* to) {
  __syncthreads();  // the sums before were read
  store8(terms, &sums[warp_number()][lane_number() * kGroup], kGroup);
  __syncthreads();
  const int64_t column = first_column + threadIdx.x;
  if (column < columns) {
    float sum = 0;
    for (int i = 0; i < kSumRows; ++i) {
      sum += sums[i][threadIdx.x];
    }
    to[column] = sum;
  }
}

// Does norm_rows_backward and the column sums of NormTerms in one pass over a chunk of rows. A lane has kParts groups.
template <typename T, int kParts>
__global__ void __launch_bounds__(kThreads) norm_chunks_backward(NormBackward norm, Matrix<T> dropped, int64_t chunk) {
  alignas(16) __shared__ float sums[kSumRows][kSumColumns];
  const int64_t columns = norm.extent.columns, groups = (columns + kGroup - 1) / kGroup, begin = blockIdx.x * chunk;
  const int64_t end = begin + chunk < norm.extent.rows ? begin + chunk : norm.extent.rows;
  const auto width = static_cast<float>(columns);
  Eight gain_terms[kParts] = {}, bias_terms[kParts] = {};
  for (int64_t row = begin + warp_number(); row < end; row += kSumRows) {
    const float mean = norm.stats.data[row * norm.stats.stride], rstd = norm.stats.data[row * norm.stats.stride + 1];
    NormGroup parts[kParts] = {};
    float scaled = 0, projected = 0;
    DRAGOMAN_UNROLL
    for (int part = 0; part < kParts; ++part) {
      const int64_t group = lane_number() + part * kWarp;
      if (group < groups) {
        parts[part] = norm_group(norm, row, group, mean, rstd);
      }
      DRAGOMAN_UNROLL
      for (int i = 0; i < kGroup; ++i) {
        scaled += parts[part].scaled.v[i];
        projected += parts[part].scaled.v[i] * parts[part].normal.v[i];
        gain_terms[part].v[i] += parts[part].grad.v[i] * parts[part].normal.v[i];
        bias_terms[part].v[i] += parts[part].grad.v[i];
      }
    }
    scaled = norm.centres ? over_warp(scaled, Sum()) / width : 0.0F;
    projected = over_warp(projected, Sum()) / width;
    DRAGOMAN_UNROLL
    for (int part = 0; part < kParts; ++part) {
      const int64_t group = lane_number() + part * kWarp;
      if (group < groups) {
        write_norm_gradient(norm, dropped, row, group, parts[part], rstd, scaled, projected);
      }
    }
  }
  float* const to = norm.scratch + static_cast<int64_t>(blockIdx.x) * 2 * columns;
  for (int part = 0; part < kParts; ++part) {
    write_block_sums(gain_terms[part], sums, part * kSumColumns, columns, to);
    write_block_sums(bias_terms[part], sums, part * kSumColumns, columns, to + columns);
  }
}

template <typename T, int kParts>
void run_norm_chunks(const NormBackward& norm) {
  const int64_t chunk = rows_of_chunk(norm.extent);
  const unsigned chunks = blocks_for(norm.extent.rows, chunk == 0 ? 1 : chunk);
  launch("layer_norm_backward", norm_chunks_backward<T, kParts>, {dim3(chunks), kThreads}, norm,
         norm.grad_dropped.as<T>(), chunk);
  launch("layer_norm_backward", column_totals, {dim3(blocks_for(2 * norm.extent.columns, kWarp)), kThreads},
         static_cast<const float*>(norm.scratch), static_cast<int64_t>(chunks), int64_t{2}, norm.extent.columns, false,
         norm.grad_gain, norm.grad_bias);
}

// Rows of more columns than the registers of a warp hold are read twice.
template <typename T>
void run_norm_rows(const NormBackward& norm) {
  launch("layer_norm_backward", norm_rows_backward<T>, {dim3(blocks_for(norm.extent.rows, kRowsOfBlock)), kThreads},
         norm, norm.grad_dropped.as<T>());
  sum_columns("layer_norm_backward", NormTerms{norm.x, norm.stats, norm.grad_y}, norm.extent, false, norm.scratch,
              norm.grad_gain, norm.grad_bias);
}

template <typename T>
void run_norm_backward(const NormBackward& norm) {
  if (norm.extent.columns <= kSumColumns) {
    run_norm_chunks<T, 1>(norm);
  } else if (norm.extent.columns <= 2 * kSumColumns) {
    run_norm_chunks<T, 2>(norm);
  } else if (norm.extent.columns <= 3 * kSumColumns) {
    run_norm_chunks<T, 3>(norm);
  } else if (norm.extent.columns <= 4 * kSumColumns) {
    run_norm_chunks<T, 4>(norm);
  } else {
    run_norm_rows<T>(norm);
  }
}

template <typename T>
void run_norm(const Norm& norm) {
  const int64_t columns = norm.gain == nullptr ? 0 : norm.extent.columns;  // 0: a sum alone keeps nothing
  const auto kernel = columns == 0 || columns > 4 * kSumColumns ? norm_rows<T>
                      : columns <= kSumColumns                  ? norm_narrow_rows<T, 1>
                      : columns <= 2 * kSumColumns              ? norm_narrow_rows<T, 2>
                      : columns <= 3 * kSumColumns              ? norm_narrow_rows<T, 3>
                                                                : norm_narrow_rows<T, 4>;
  launch("layer_norm", kernel, {dim3(blocks_for(norm.extent.rows, kRowsOfBlock)), kThreads}, norm,
         norm.sublayer.as<T>());
}

}  // namespace

int64_t column_sum_scratch(const Extent& extent, int64_t arrays) {
  const int64_t chunk = rows_of_chunk(extent);
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
  if (norm.sublayer.is_bfloat16) {
    run_norm<BFloat16>(norm);
  } else {
    run_norm<float>(norm);
  }
}

void layer_norm_backward(const NormBackward& norm) {
  if (norm.grad_dropped.is_bfloat16) {
    run_norm_backward<BFloat16>(norm);
  } else {
    run_norm_backward<float>(norm);
  }
}

}  // namespace dragoman::kernels::cuda
