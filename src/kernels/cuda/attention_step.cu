// Attention of decoding steps: each query row has its own keys, which an index table may name.
#include "kernels/cuda/attention_kernels.h"
#include "kernels/cuda/device_math-inl.h"

namespace dragoman::kernels::cuda {
namespace {

constexpr int kWarps = 4;
constexpr unsigned kThreads = kWarps * kWarp;
constexpr int kParts = kWidestHead / kWarp;
constexpr int kAtOnce = 8;  // values that are read before the first of them is used

__device__ __forceinline__ StepRow row_of(const AttentionStep& step, int64_t r) {
  if (step.rows != nullptr) {
    return step.rows[r];
  }
  return {step.keys, step.values, step.stride, step.lengths[r], step.begins[r]};
}

__device__ __forceinline__ int64_t cache_row(const AttentionStep& step, const StepRow& row, int position) {
  return row.table < 0 ? position : step.tables[row.table + position];
}

__device__ __forceinline__ int key_head(const AttentionStep& step, int head) {
  return head / (step.heads / step.key_heads);
}

// @param position  of the key in its history
__device__ __forceinline__ float bias_of(const AttentionStep& step, const StepRow& row, int head, int position) {
  return step.bias_end == nullptr ? 0.0F : step.bias_end[head * step.bias_stride + position - row.length];
}

template <typename T>
__device__ __forceinline__ float score_of(const AttentionStep& step, const StepRow& row, const float* query, int head,
                                          int64_t at) {
  const T* key = static_cast<const T*>(row.keys) + at * row.stride + static_cast<int64_t>(head) * step.d_head;
  float sum = 0;
  DRAGOMAN_UNROLL_8
  for (int first = 0; first < step.d_head; first += kGroup) {
    const Eight part = load8(key + first, step.d_head - first);
    DRAGOMAN_UNROLL
    for (int i = 0; i < kGroup; ++i) {
      sum += first + i < step.d_head ? query[first + i] * part.v[i] : 0.0F;
    }
  }
  return sum / sqrtf(static_cast<float>(step.d_head));
}

// What a warp has of the positions of a row: weights are relative to the largest score so far.
struct PartOfStep {
  float largest = -INFINITY, total = 0;
  float sums[kParts] = {};  // of columns lane, lane + 32, ...

  // Takes 32 positions, a lane one of them, of which the first `here` exist.
  // @param at  the cache row of the lane; any row of the history for a lane without a position
  template <typename T>
  __device__ __forceinline__ void take(const AttentionStep& step, const StepRow& row, int head, float score, int at,
                                       int here) {
    const float now = fmaxf(largest, over_warp(score, Largest()));
    const float rescale = expf(largest - now), weight = expf(score - now);
    largest = now;
    total = total * rescale + over_warp(weight, Sum());
    DRAGOMAN_UNROLL
    for (int part = 0; part < kParts; ++part) {
      sums[part] *= rescale;
    }
    const T* values = static_cast<const T*>(row.values) + static_cast<int64_t>(head) * step.d_value;
    for (int first = 0; first < here; first += kAtOnce) {
      DRAGOMAN_UNROLL
      for (int i = 0; i < kAtOnce; ++i) {  // those past `here` have weight 0
        const float factor = __shfl_sync(kAllLanes, weight, first + i);
        const T* value = values + __shfl_sync(kAllLanes, at, first + i) * row.stride;
        DRAGOMAN_UNROLL
        for (int part = 0; part < kParts; ++part) {
          const int column = lane_number() + part * kWarp;
          sums[part] += column < step.d_value ? factor * widen(value[column]) : 0.0F;
        }
      }
    }
  }
};

// A block has a query row and head; a warp has 32 positions at a time.
template <typename T>
__global__ void __launch_bounds__(kThreads) step_rows(AttentionStep step) {
  __shared__ float query[kWidestHead], sums[kWarps][kWidestHead], largest[kWarps], totals[kWarps];
  const int64_t r = blockIdx.x;
  const int head = static_cast<int>(blockIdx.y), of_keys = key_head(step, head);
  const StepRow row = row_of(step, r);
  const int thread = static_cast<int>(threadIdx.x);
  if (thread < step.d_head) {
    query[thread] = step.query.data[r * step.query.stride + static_cast<int64_t>(head) * step.d_head + thread];
  }
  __syncthreads();
  PartOfStep part;
  for (int first = warp_number() * kWarp; first < row.length; first += kWarps * kWarp) {
    const int position = first + lane_number();
    const bool exists = position < row.length;
    const auto at = static_cast<int>(cache_row(step, row, exists ? position : first));
    const float score =
        exists ? score_of<T>(step, row, query, of_keys, at) + bias_of(step, row, head, position) : -INFINITY;
    part.take<T>(step, row, of_keys, score, at, row.length - first < kWarp ? row.length - first : kWarp);
  }
  if (lane_number() == 0) {
    largest[warp_number()] = part.largest;
    totals[warp_number()] = part.total;
  }
  DRAGOMAN_UNROLL
  for (int i = 0; i < kParts; ++i) {
    sums[warp_number()][lane_number() + i * kWarp] = part.sums[i];
  }
  __syncthreads();
  float now = largest[0];
  for (int warp = 1; warp < kWarps; ++warp) {
    now = fmaxf(now, largest[warp]);
  }
  float total = 0, sum = 0;
  for (int warp = 0; warp < kWarps; ++warp) {
    const float rescale = largest[warp] == -INFINITY ? 0.0F : expf(largest[warp] - now);
    total += totals[warp] * rescale;
    sum += sums[warp][thread] * rescale;
  }
  const float inverse = total > 0 ? 1.0F / total : 0.0F;
  if (thread < step.d_value) {
    const int64_t to = r * step.context.stride + static_cast<int64_t>(head) * step.d_value + thread;
    if (step.context.is_bfloat16) {
      static_cast<BFloat16*>(step.context.data)[to] = narrow<BFloat16>(sum * inverse);
    } else {
      static_cast<float*>(step.context.data)[to] = sum * inverse;
    }
  }
  if (thread == 0 && step.stats != nullptr) {
    const int64_t number = r * step.heads + head;
    step.stats[number] = now;
    step.stats[step.count * step.heads + number] = inverse;
  }
}

// A block has a query row; a thread has positions.
template <typename T>
__global__ void __launch_bounds__(kThreads) mean_weights_of_rows(AttentionStep step) {
  const int64_t r = blockIdx.x;
  const StepRow row = row_of(step, r);
  for (int position = static_cast<int>(threadIdx.x); position < step.longest; position += static_cast<int>(kThreads)) {
    float sum = 0;
    for (int head = 0; head < step.heads && position < row.length; ++head) {
      const float* query = step.query.data + r * step.query.stride + static_cast<int64_t>(head) * step.d_head;
      const int64_t number = r * step.heads + head;
      const int64_t at = cache_row(step, row, position);
      const float score = score_of<T>(step, row, query, key_head(step, head), at) + bias_of(step, row, head, position);
      sum += expf(score - step.stats[number]) * step.stats[step.count * step.heads + number];
    }
    step.mean_weights.data[r * step.mean_weights.stride + position] = sum / static_cast<float>(step.heads);
  }
}

template <typename T>
void step_of(const AttentionStep& step) {
  launch("attention_step", step_rows<T>,
         {dim3(static_cast<unsigned>(step.count), static_cast<unsigned>(step.heads)), kThreads}, step);
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
  if (rows.rows[row] < 0) {
    return;
  }
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
