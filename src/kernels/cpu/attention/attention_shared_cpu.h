#pragma once

#include "kernels/cpu/attention/attention_shared.h"

namespace dragoman::kernels {

constexpr int64_t kKeyBlock = 16;  // positions side by side
constexpr int kSharedQueries = 4;  // computed together at most

struct SharedProblem {
  int64_t n_heads, d_head, d_value;
  int64_t width;  // of a row of weights
  const float* query;
  int64_t query_stride;
  float* context;
  int64_t context_stride;
  float* weights;  // [kSharedQueries, width], overwritten
  const void* keys;
  const void* values;
  tensor::DType dtype;        // of both
  const float* key_scales;    // [n_heads, length in whole blocks], int8 only
  const float* value_scales;  // likewise
  int64_t length;
  const void* next_keys;  // of the next group, to be prefetched; null for the last group
  const void* next_values;
  float* mean_weights;  // of the first query, zeroed by the caller; null if not requested
  int64_t mean_stride;
};

/// Computes the first `count` queries (1 to kSharedQueries) of the problem.
void attention_shared_kernel(const SharedProblem& problem, int64_t count);

}  // namespace dragoman::kernels
