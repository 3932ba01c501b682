// Attention of decoding steps: each query row has its own keys, which an index table may name.
#include "kernels/cuda/attention_kernels.h"
#include "kernels/cuda/device_math-inl.h"

namespace dragoman::kernels::cuda {
namespace {

constexpr int kWarps = 4;
constexpr unsigned kThreads = kWarps * kWarp;
constexpr int kParts = kWidestHead / kWarp;

__device__ __forceinline__ int64_t cache_row(const AttentionStep& step, const StepRow& row, int position) {
  return row.table < 0 ? position : step.tables[row.table + position];
}

template <typename T>
__device__ __forceinline__ float score_of(const AttentionStep& step, const StepRow& row, const float* query, int head,
                                          int position) {
  const T* key = static_cast<const T*>(row.keys) + cache_row(step, row, position) * row.stride +
                 static_cast<int64_t>(head) * step.d_head;
  float sum = 0;
  for (int i = 0; i < step.d_head; ++i) {
    sum += query[i] * widen(key[i]);
  }
  return sum / sqrtf(static_cast<float>(step.d_head));
}

// A warp has a query row and head; a lane has a position.
template <typename T>
__global__ void __launch_bounds__(kThreads) step_rows(AttentionStep step) {
  const int64_t number = static_cast<int64_t>(blockIdx.x) * kWarps + warp_number();
  if (number >= step.count * step.heads) {
    return;
  }
  const int64_t r = number / step.heads;
  const int head = static_cast<int>(number % step.heads);
  const StepRow row = step.rows[r];
  const float* query = step.query.data + r * step.query.stride + static_cast<int64_t>(head) * step.d_head;
  float sums[kParts] = {}, largest = -INFINITY, total = 0;
  for (int first = 0; first < row.length; first += kWarp) {
    const int position = first + lane_number();
    const float score = position < row.length ? score_of<T>(step, row, query, head, position) : -INFINITY;
    const float now = fmaxf(largest, over_warp(score, Largest()));
    const float rescale = expf(largest - now), weight = expf(score - now);
    largest = now;
    total = total * rescale + over_warp(weight, Sum());
    DRAGOMAN_UNROLL
    for (int part = 0; part < kParts; ++part) {
      sums[part] *= rescale;
    }
    const int here = row.length - first < kWarp ? row.length - first : kWarp;
    for (int other = 0; other < here; ++other) {
      const float factor = __shfl_sync(kAllLanes, weight, other);
      const T* value = static_cast<const T*>(row.values) + cache_row(step, row, first + other) * row.stride +
                       static_cast<int64_t>(head) * step.d_value;
      DRAGOMAN_UNROLL
      for (int part = 0; part < kParts; ++part) {
        const int column = lane_number() + part * kWarp;
        if (column < step.d_value) {
          sums[part] += factor * widen(value[column]);
        }
      }
    }
  }
  const float inverse = total > 0 ? 1.0F / total : 0.0F;
  float* to = step.context.data + r * step.context.stride + static_cast<int64_t>(head) * step.d_value;
  DRAGOMAN_UNROLL
  for (int part = 0; part < kParts; ++part) {
    const int column = lane_number() + part * kWarp;
    if (column < step.d_value) {
      to[column] = sums[part] * inverse;
    }
  }
  if (lane_number() == 0 && step.stats != nullptr) {
    step.stats[number] = largest;
    step.stats[step.count * step.heads + number] = inverse;
  }
}

// A block has a query row; a thread has positions.
template <typename T>
__global__ void __launch_bounds__(kThreads) mean_weights_of_rows(AttentionStep step) {
  const int64_t r = blockIdx.x;
  const StepRow row = step.rows[r];
  for (int position = static_cast<int>(threadIdx.x); position < step.longest; position += static_cast<int>(kThreads)) {
    float sum = 0;
    for (int head = 0; head < step.heads && position < row.length; ++head) {
      const float* query = step.query.data + r * step.query.stride + static_cast<int64_t>(head) * step.d_head;
      const int64_t number = r * step.heads + head;
      sum += expf(score_of<T>(step, row, query, head, position) - step.stats[number]) *
             step.stats[step.count * step.heads + number];
    }
    step.mean_weights.data[r * step.mean_weights.stride + position] = sum / static_cast<float>(step.heads);
  }
}

template <typename T>
void step_of(const AttentionStep& step) {
  launch("attention_step", step_rows<T>, {dim3(blocks_for(step.count * step.heads, kWarps)), kThreads}, step);
  if (step.mean_weights.data != nullptr) {
    launch("attention_step", mean_weights_of_rows<T>, {dim3(static_cast<unsigned>(step.count)), kThreads}, step);
  }
}

template <typename T>
__global__ void store_rows(CacheRows rows, Matrix<T> cache) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x, width = 2 * rows.columns;
  if (i >= rows.count * width) {
    return;
  }
  const int64_t row = i / width, column = i % width;
  const float value = column < rows.columns ? rows.keys.data[row * rows.keys.stride + column]
                                            : rows.values.data[row * rows.values.stride + column - rows.columns];
  cache.data[rows.rows[row] * cache.stride + column] = narrow<T>(value);
}

}  // namespace

void attention_step(const AttentionStep& step) {
  step.cached_bfloat16 ? step_of<BFloat16>(step) : step_of<float>(step);
}

void store_cached_rows(const CacheRows& rows) {
  const LaunchShape shape{dim3(blocks_for(rows.count * 2 * rows.columns, kThreads)), kThreads};
  if (rows.cache.is_bfloat16) {
    launch("store_cached_rows", store_rows<BFloat16>, shape, rows, rows.cache.as<BFloat16>());
  } else {
    launch("store_cached_rows", store_rows<float>, shape, rows, rows.cache.as<float>());
  }
}

}  // namespace dragoman::kernels::cuda
