#pragma once

#include "ops/attention.h"

namespace dragoman::ops {

/// What the kernels of `attention` read; shapes and offsets are checked already. All three are float32, or all three
/// bfloat16; what is made of them has their type.
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
  Tensor query;  ///< [Nq, H*Dh]
  Tensor key;    ///< [Nk, H*Dh]
  Tensor value;  ///< [Nk, H*Dv]
};

/// Row of the dropout mask for (query row, head): the mask of H heads takes H rows for each query row.
inline Dropout weight_dropout(const AttentionOptions& options) {
  Dropout dropout = options.dropout;
  dropout.first_row *= options.n_heads;
  return dropout;
}

/// Overwrites context [Nq, H*Dv] and stats [2, H, Nq]: the largest product q . k of each head and row, and 1 / (sum of
/// exp of the scores less the largest), 0 for a row with nothing to attend to; stats are float32.
void attention_forward(const AttentionInputs& inputs, Tensor& context, Tensor& stats);
/// Overwrites the gradients of the three inputs; computes the weights again with the stats of the forward.
void attention_backward(const AttentionInputs& inputs, Tensor stats, const Tensor& grad_context,
                        AttentionGradients& gradients);
/// Overwrites weights [H, T, S] of the only sentence.
void attention_weights_forward(const AttentionInputs& inputs, Tensor& weights);

}  // namespace dragoman::ops
