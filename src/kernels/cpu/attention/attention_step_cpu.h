#pragma once

#include "kernels/cpu/attention/attention_step.h"

namespace dragoman::kernels {

struct StepShape {
  int64_t n_heads = 1;
  int64_t d_head = 0;
  int64_t d_value = 0;
  int64_t n_kv_heads = 1;         ///< heads of a key and of a value
  const int32_t* key_heads = {};  ///< [H] the head of a key and a value that each head reads; null: its own
};

/// Returns: the number of floats for the weights of one head, padded to whole vectors of any instruction set.
constexpr int64_t step_row_width(int64_t length) {
  return (length + 15) / 16 * 16;
}

/// The largest number of query rows that are computed together.
constexpr int kStepRows = 4;

/// Query rows of one sentence or prompt: hypotheses, or tokens that follow each other. All rows read the same cache
/// rows in the first `shared` positions, so that these are read once. A single row shares nothing.
struct StepRows {
  int64_t first_head, end_head;  ///< those that are computed
  const float* query;            ///< row r at query + r * query_stride, likewise weights and context
  int64_t query_stride;
  const StepKeys* keys;  ///< [count]
  int64_t count;         ///< 1 to kStepRows
  int64_t shared;
  int64_t width;   ///< step_row_width of the longest row
  float* weights;  ///< of a row [H, width]
  int64_t weights_stride;
  float* context;  ///< of a row [H*Dv]
  int64_t context_stride;
};

/// Overwrites weights and contexts of some heads. Their bits depend neither on `shared` nor on the other heads. Without
/// keys the contexts are zeros.
void attention_step_rows(const StepShape& shape, const StepRows& rows);
/// Overwrites mean[t] = 1/H sum_h weights[h][t], t < length.  @param weights  [H, width]
void mean_over_heads(const StepShape& shape, const float* weights, int64_t width, int64_t length, float* mean);

}  // namespace dragoman::kernels
