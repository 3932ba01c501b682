#pragma once

#include "kernels/cpu/attention/attention_step.h"

namespace dragoman::kernels {

struct StepShape {
  int64_t n_heads = 1;
  int64_t d_head = 0;
  int64_t d_value = 0;
};

/// Floats that the weights of one head take in the work space: whole vectors of any instruction set.
constexpr int64_t step_row_width(int64_t length) {
  return (length + 15) / 16 * 16;
}

/// Rows of queries that are computed together at most.
constexpr int kStepRows = 4;

/// Query rows of hypotheses of one sentence, as many keys each. They read the same cache rows in the first `shared`
/// positions: read once for all of them. A row alone shares nothing.
struct StepRows {
  const float* query;  ///< row r at query + r * query_stride, likewise weights and context
  int64_t query_stride;
  const StepKeys* keys;  ///< [count]
  int64_t count;         ///< 1 to kStepRows
  int64_t shared;
  float* weights;  ///< of a row [H, step_row_width(length)]
  int64_t weights_stride;
  float* context;  ///< of a row [H*Dv]
  int64_t context_stride;
};

/// Overwrites weights and contexts, whose bits do not depend on what is shared. No keys: contexts of zeros.
void attention_step_rows(const StepShape& shape, const StepRows& rows);
/// mean[t] = 1/H sum_h weights[h][t], overwritten.
void mean_over_heads(const StepShape& shape, const float* weights, int64_t length, float* mean);

}  // namespace dragoman::kernels
