#pragma once

#include "ops/attention.h"

namespace dragoman::ops {

/// What the kernels of `attention` read; shapes and offsets are checked already.
struct AttentionInputs {
  Tensor query;  ///< [Nq, H*Dh]
  Tensor key;    ///< [Nk, H*Dh]
  Tensor value;  ///< [Nk, H*Dv]; undefined when only weights are asked for
  AttentionBounds bounds;
  AttentionOptions options;

  int64_t n_heads() const { return options.n_heads; }
  int64_t d_head() const { return query.dim(1) / n_heads(); }
  int64_t d_value() const { return value.defined() ? value.dim(1) / n_heads() : 0; }
  int64_t n_sentences() const { return bounds.query_offsets.dim(0) - 1; }
};

struct AttentionGradients {
  Tensor query;  ///< [Nq, H*Dh], contiguous
  Tensor key;    ///< [Nk, H*Dh], contiguous
  Tensor value;  ///< [Nk, H*Dv], contiguous
};

/// Row of the dropout mask for (query row, head): the mask of H heads takes H rows for each query row.
inline Dropout weight_dropout(const AttentionOptions& options) {
  Dropout dropout = options.dropout;
  dropout.first_row *= options.n_heads;
  return dropout;
}

/// Overwrites context [Nq, H*Dv] and log_sum_exp [Nq, H] (+infinity marks a row with nothing to attend to). float32.
void attention_forward(const AttentionInputs& inputs, Tensor& context, Tensor& log_sum_exp);
/// Adds the gradients of the three inputs; computes the weights again from log_sum_exp.
void attention_backward_accumulate(const AttentionInputs& inputs, const Tensor& log_sum_exp, const Tensor& grad_context,
                                   AttentionGradients& gradients);
/// Overwrites weights [H, T, S] of the only sentence.
void attention_weights_forward(const AttentionInputs& inputs, Tensor& weights);

}  // namespace dragoman::ops
