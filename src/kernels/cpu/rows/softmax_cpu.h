#pragma once

#include <cstdint>

namespace dragoman::kernels {

// Rows of float32, one at a time: the result of a row does not depend on the other rows.

/// to[c] = exp(row[c] - m) / sum_j exp(row[j] - m), m the largest of the row. May be in place.
void softmax_row(const float* row, int64_t columns, float* to);
/// to[c] = row[c] - log sum_j exp(row[j]). May be in place.
void log_softmax_row(const float* row, int64_t columns, float* to);
/// grad[c] = probs[c] * (grad_output[c] - sum_j probs[j] * grad_output[j]), overwritten.
void softmax_row_backward(const float* probs, const float* grad_output, int64_t columns, float* grad);
/// grad[c] = grad_output[c] - exp(log_probs[c]) * sum_j grad_output[j], overwritten.
void log_softmax_row_backward(const float* log_probs, const float* grad_output, int64_t columns, float* grad);

}  // namespace dragoman::kernels
