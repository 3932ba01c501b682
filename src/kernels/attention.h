#pragma once

#include "kernels/dropout.h"
#include "kernels/types.h"

namespace dragoman::kernels {

/// The options of `attention`. With fewer heads of key and value (Ainslie et al. 2023, "GQA"), head j of them serves
/// the query heads j*g .. j*g + g-1, g = n_heads / n_kv_heads.
struct AttentionOptions {
  int n_heads = 1;  ///< H, heads of query; divides its width
  bool causal =
      false;  ///< query t of a sentence sees keys 0 .. t; each sentence must have equal numbers of keys and queries
  Dropout dropout = {};  ///< on the attention weights; first_row counts query rows
  int n_kv_heads = 0;    ///< Hkv, heads of key and value; divides n_heads; 0 = n_heads
  int64_t window = 0;    ///< query t sees the last `window` of keys 0 .. t only; 0 = all; needs `causal`
  float scale = 0.0F;    ///< of the products q . k; 0 = 1 / sqrt(Dh)
};

/// Returns: the number of heads of key and value.
inline int n_kv_heads(const AttentionOptions& options) {
  return options.n_kv_heads > 0 ? options.n_kv_heads : options.n_heads;
}

/// Tells which rows of a ragged batch form a sentence. Sentence b has the query rows query_offsets[b] ..
/// query_offsets[b + 1], and key rows likewise.
struct AttentionBounds {
  Tensor query_offsets;  ///< [B + 1] int32, from 0 up to Nq
  Tensor key_offsets;    ///< [B + 1] int32, from 0 up to Nk
  Tensor key_mask = {};  ///< [Nk] bool, true = may be attended to; undefined = all
};

/// The inputs of the attention kernels. Query, key and value are all float32 or all bfloat16, and results have their
/// type.
/// Requires: shapes and offsets were checked.
struct AttentionInputs {
  Tensor query;  ///< [Nq, H*Dh]
  Tensor key;    ///< [Nk, Hkv*Dh]
  Tensor value;  ///< [Nk, Hkv*Dv]; undefined if only weights are requested
  AttentionBounds bounds;
  AttentionOptions options;
  /// [H, 2*R] float32, float64 beside a float64 query: element [h][R + t - s] is added to the scaled product of query t
  /// and key s of a sentence. R is bias_reach of the longest sentence or more. Undefined = nothing is added.
  Tensor distance_bias = {};

  int64_t n_heads() const { return options.n_heads; }
  int64_t n_kv_heads() const { return kernels::n_kv_heads(options); }
  /// Returns: the number of query heads that share a head of key and value.
  int64_t group() const { return n_heads() / n_kv_heads(); }
  int64_t d_head() const { return query.dim(1) / n_heads(); }
  int64_t d_value() const { return value.defined() ? value.dim(1) / n_kv_heads() : 0; }
  int64_t n_sentences() const { return bounds.query_offsets.dim(0) - 1; }
  /// Returns: R of the distance bias.
  int64_t reach() const { return distance_bias.dim(1) / 2; }
};

/// Returns: the smallest R for sentences of `longest` rows, so that kernels may read whole vectors.
constexpr int64_t bias_reach(int64_t longest) {
  return (longest + 15) / 16 * 16;
}

/// What attention_backward needs beside the inputs; what a backend does not need is undefined.
struct AttentionSaved {
  Tensor stats;         ///< of the softmax of each row and head
  Tensor context = {};  ///< [Nq, H*Dv]
};

/// The gradients of the inputs of attention.
struct AttentionGradients {
  Tensor query;               ///< [Nq, H*Dh]
  Tensor key;                 ///< [Nk, Hkv*Dh]
  Tensor value;               ///< [Nk, Hkv*Dv]
  Tensor distance_bias = {};  ///< [H, 2*R]; defined if the bias is
};

/// Returns: the dropout of the weights. Its mask has H rows for each query row, one for each head.
inline Dropout weight_dropout(const AttentionOptions& options) {
  Dropout dropout = options.dropout;
  dropout.first_row *= options.n_heads;
  return dropout;
}

}  // namespace dragoman::kernels
