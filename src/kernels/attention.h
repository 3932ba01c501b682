#pragma once

#include "kernels/dropout.h"
#include "kernels/types.h"

namespace dragoman::kernels {

struct AttentionOptions {
  int n_heads = 1;       ///< H; divides the widths of query, key and value
  bool causal = false;   ///< query t of a sentence sees keys 0 .. t; needs as many keys as queries in each sentence
  Dropout dropout = {};  ///< on the attention weights; first_row counts query rows
};

/// Which rows belong together: sentence b has query rows query_offsets[b] .. query_offsets[b + 1] and key rows
/// likewise.
struct AttentionBounds {
  Tensor query_offsets;  ///< [B + 1] int32, from 0 up to Nq
  Tensor key_offsets;    ///< [B + 1] int32, from 0 up to Nk
  Tensor key_mask = {};  ///< [Nk] bool, true = may be attended to; undefined = all
};

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

}  // namespace dragoman::kernels
