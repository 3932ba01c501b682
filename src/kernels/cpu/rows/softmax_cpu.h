#pragma once

#include <cstdint>

namespace dragoman::kernels {

// Rows of float32, one at a time: the result of a row does not depend on the other rows.

/// Computes to[c] = exp(row[c] - m) / sum_j exp(row[j] - m), with m the largest of the row. `to` may be `row`.
void softmax_row(const float* row, int64_t columns, float* to);
/// Computes to[c] = row[c] - log sum_j exp(row[j]). `to` may be `row`.
void log_softmax_row(const float* row, int64_t columns, float* to);
/// Computes grad[c] = probs[c] * (grad_output[c] - sum_j probs[j] * grad_output[j]).
void softmax_row_backward(const float* probs, const float* grad_output, int64_t columns, float* grad);
/// Computes grad[c] = grad_output[c] - exp(log_probs[c]) * sum_j grad_output[j].
void log_softmax_row_backward(const float* log_probs, const float* grad_output, int64_t columns, float* grad);

}  // namespace dragoman::kernels
