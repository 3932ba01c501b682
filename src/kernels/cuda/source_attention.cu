#include "kernels/cuda/source_attention.h"

#include "kernels/cuda/device_math-inl.h"

namespace dragoman::kernels::cuda {
namespace {

constexpr unsigned kThreads = 128;
constexpr int kWarps = static_cast<int>(kThreads) / kWarp;

__device__ __forceinline__ float* row_of(const Matrix<float>& matrix, int64_t row) {
  return matrix.data + row * matrix.stride;
}

// The score of a key, in every lane of the warp.
__device__ float score(const SourceAttention& a, const float* query, const float* key) {
  float sum = 0;
  for (int64_t c = lane_number(); c < a.d_key; c += kWarp) {
    sum += a.is_additive ? a.score_weight[c] * tanhf(query[c] + key[c]) : query[c] * key[c];
  }
  return over_warp(sum, Sum());
}

// A block has a query, and a warp every fourth key.
__global__ void __launch_bounds__(kThreads) attend_to_source(SourceAttention a, Matrix<float> context) {
  const int64_t n = blockIdx.x;
  const SourceOfSentence source = a.sources[a.sentences[n]];
  float* weights = row_of(a.weights, n);
  for (int64_t j = warp_number(); j < source.rows; j += kWarps) {
    const float of_key = score(a, row_of(a.query, n), row_of(source.keys, j));
    if (lane_number() == 0) {
      weights[j] = of_key;
    }
  }
  __syncthreads();
  float largest = -INFINITY;
  for (int64_t j = threadIdx.x; j < source.rows; j += kThreads) {
    largest = weights[j] > largest ? weights[j] : largest;
  }
  largest = over_block(largest, Largest());
  float sum = 0;
  for (int64_t j = threadIdx.x; j < source.rows; j += kThreads) {
    weights[j] = expf(weights[j] - largest);
    sum += weights[j];
  }
  sum = over_block(sum, Sum());
  for (int64_t j = threadIdx.x; j < a.longest; j += kThreads) {
    weights[j] = j < source.rows ? weights[j] / sum : 0.0F;
  }
  __syncthreads();
  for (int64_t c = threadIdx.x; c < a.d_value; c += kThreads) {
    float total = 0;
    for (int64_t j = 0; j < source.rows; ++j) {
      total += weights[j] * row_of(source.values, j)[c];
    }
    row_of(context, n)[c] = total;
  }
}

// The gradients of the scores and of the query. A block has a query.
__global__ void __launch_bounds__(kThreads) source_backward_of_query(SourceAttention a, SourceAttentionGradients g) {
  const int64_t n = blockIdx.x;
  const SourceOfSentence source = a.sources[a.sentences[n]];
  const float *weights = row_of(a.weights, n), *grad_context = row_of(g.grad_context, n), *query = row_of(a.query, n);
  float* score_grads = row_of(g.score_grads, n);
  float mean = 0;  // counted by the first lanes
  for (int64_t j = warp_number(); j < source.rows; j += kWarps) {
    float sum = 0;
    for (int64_t c = lane_number(); c < a.d_value; c += kWarp) {
      sum += grad_context[c] * row_of(source.values, j)[c];
    }
    sum = over_warp(sum, Sum());
    if (lane_number() == 0) {
      score_grads[j] = sum;
      mean += weights[j] * sum;
    }
  }
  mean = over_block(mean, Sum());
  for (int64_t j = threadIdx.x; j < source.rows; j += kThreads) {
    score_grads[j] = weights[j] * (score_grads[j] - mean);
  }
  __syncthreads();
  for (int64_t c = threadIdx.x; c < a.d_key; c += kThreads) {
    float grad = 0, of_weight = 0;
    for (int64_t j = 0; j < source.rows; ++j) {
      const float key = row_of(source.keys, j)[c];
      const float y = a.is_additive ? tanhf(query[c] + key) : 0.0F;
      grad += score_grads[j] * (a.is_additive ? a.score_weight[c] * (1.0F - y * y) : key);
      of_weight += score_grads[j] * y;
    }
    row_of(g.grad_query, n)[c] = grad;
    if (a.is_additive) {
      row_of(g.weight_parts, n)[c] = of_weight;
    }
  }
}

// The gradients of a key and a value, added over the queries of their sentence. A block has a row of the encoder.
__global__ void __launch_bounds__(kThreads) source_backward_of_row(SourceAttention a, SourceAttentionGradients g) {
  const SourceRow place = g.rows[blockIdx.x];
  const SourceOfSentence source = a.sources[place.sentence], grads = g.grad_sources[place.sentence];
  const int32_t begin = g.starts[place.sentence], end = g.starts[place.sentence + 1];
  for (int64_t c = threadIdx.x; c < a.d_value; c += kThreads) {
    float sum = row_of(grads.values, place.row)[c];
    for (int32_t i = begin; i < end; ++i) {
      sum += row_of(a.weights, g.order[i])[place.row] * row_of(g.grad_context, g.order[i])[c];
    }
    row_of(grads.values, place.row)[c] = sum;
  }
  for (int64_t c = threadIdx.x; c < a.d_key; c += kThreads) {
    const float key = row_of(source.keys, place.row)[c];
    float sum = row_of(grads.keys, place.row)[c];
    for (int32_t i = begin; i < end; ++i) {
      const float grad = row_of(g.score_grads, g.order[i])[place.row], query = row_of(a.query, g.order[i])[c];
      const float y = a.is_additive ? tanhf(query + key) : 0.0F;
      sum += grad * (a.is_additive ? a.score_weight[c] * (1.0F - y * y) : query);
    }
    row_of(grads.keys, place.row)[c] = sum;
  }
}

}  // namespace

void source_attention(const SourceAttention& attention, const Matrix<float>& context) {
  launch("source_attention", attend_to_source, {dim3(static_cast<unsigned>(attention.queries)), kThreads}, attention,
         context);
}

void source_attention_backward(const SourceAttention& attention, const SourceAttentionGradients& gradients) {
  launch("source_attention_backward", source_backward_of_query,
         {dim3(static_cast<unsigned>(attention.queries)), kThreads}, attention, gradients);
  launch("source_attention_backward", source_backward_of_row,
         {dim3(static_cast<unsigned>(gradients.row_count)), kThreads}, attention, gradients);
}

}  // namespace dragoman::kernels::cuda
