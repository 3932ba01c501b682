#pragma once

#include "ops/attention_step.h"

namespace dragoman::ops {

struct StepShape {
  int64_t n_heads = 1;
  int64_t d_head = 0;
  int64_t d_value = 0;
};

/// Floats that the weights of one head take in the work space: whole vectors of any instruction set.
constexpr int64_t step_row_width(int64_t length) {
  return (length + 15) / 16 * 16;
}

/// One query row: overwrites weights [H, step_row_width(length)] and context [H*Dv]. No keys: context of zeros.
void attention_step_row(const StepShape& shape, const float* query, const StepKeys& keys, float* weights,
                        float* context);
/// mean[t] = 1/H sum_h weights[h][t], overwritten.
void mean_over_heads(const StepShape& shape, const float* weights, int64_t length, float* mean);

}  // namespace dragoman::ops
