#pragma once

#include <cstdint>

#include "kernels/cuda/views.h"

namespace dragoman::kernels::cuda {

/// The encoder states of a sentence, or their gradients.
struct SourceOfSentence {
  Matrix<float> keys, values;
  int32_t rows;
};

/// A row of the encoder.
struct SourceRow {
  int32_t sentence, row;
};

/// kernels::SourceAttentionForward, with all arrays in the memory of the device.
struct SourceAttention {
  bool is_additive;
  Matrix<float> query;
  const SourceOfSentence* sources;
  const int32_t* sentences;   ///< [n]
  const float* score_weight;  ///< [A]; not read unless is_additive
  Matrix<float> weights;      ///< [n, longest]
  int64_t queries, d_key, d_value, longest;
};
/// Overwrites the weights and context.
void source_attention(const SourceAttention& attention, const Matrix<float>& context);

/// kernels::SourceAttentionBackward.
struct SourceAttentionGradients {
  Matrix<float> grad_context, grad_query;
  const SourceOfSentence* grad_sources;
  const SourceRow* rows;  ///< all rows of all sentences
  int64_t row_count;
  const int32_t* order;        ///< [n], the queries of the first sentence, then those of the next
  const int32_t* starts;       ///< [sentences + 1], the first query of each sentence in `order`
  Matrix<float> score_grads;   ///< [n, longest] scratch
  Matrix<float> weight_parts;  ///< [n, A], overwritten with the part of each query in the gradient of score_weight
};
void source_attention_backward(const SourceAttention& attention, const SourceAttentionGradients& gradients);

}  // namespace dragoman::kernels::cuda
