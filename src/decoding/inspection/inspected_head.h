#pragma once

#include <string_view>

#include "base/names.h"
#include "decoding/inspection/inspection.h"

namespace dragoman::decoding {

/// How an attention scores a query and a key.
enum class ScoreRule {
  kScaledProduct,  ///< q . k * InspectedHead::scale (Vaswani et al. 2017)
  kProduct,        ///< q . k (Luong et al. 2015, "general"; Gehring et al. 2017)
  kAdditive,       ///< v . tanh(q + k) (Bahdanau et al. 2015)
};

constexpr base::Names<ScoreRule> names_of(ScoreRule) {
  return {"score_rule",
          {{ScoreRule::kScaledProduct, "scaled-product"},
           {ScoreRule::kProduct, "product"},
           {ScoreRule::kAdditive, "additive"}}};
}

/// One head of one attention, from its queries to its context (paper, section 3.2.1). T rows look at S columns; in
/// self-attention S = T. All float32.
struct InspectedHead {
  tensor::Tensor projected_query;  ///< [T, Dk] X W^Q + b, before norm and rotation; undefined where there is neither
  tensor::Tensor projected_key;    ///< [S, Dk]
  tensor::Tensor rotation;         ///< [T, Dk] cosines of the Dk/2 angles of a row, then their sines; undefined without
  tensor::Tensor query;            ///< [T, Dk]
  tensor::Tensor key;              ///< [S, Dk]
  tensor::Tensor value;            ///< [S, Dh]
  tensor::Tensor score_weight;     ///< [Dk] v of additive scores; undefined otherwise
  tensor::Tensor scores;           ///< [T, S] Q K^T, or v . tanh(q + k)
  tensor::Tensor scaled;           ///< [T, S] scale * Q K^T; undefined unless products are scaled
  tensor::Tensor bias;             ///< [T, S] what relative positions add to it; undefined without
  tensor::Tensor weights;          ///< [T, S] softmax over the columns that the mask lets through
  tensor::Tensor context;          ///< [T, Dh] weights V
  ScoreRule rule = ScoreRule::kScaledProduct;
  double scale = 1.0;    ///< 1 / sqrt(Dk), or 1 in a model that does not scale (LayerOptions::scale_attention)
  bool causal = false;   ///< row t sees the columns 0 .. t
  int64_t window = 0;    ///< of these the last `window` alone; 0 = all
  int64_t key_head = 0;  ///< that this head reads; heads may share keys and values
};

/// @param path  of the attention, "encoder.layers.0.self_attention";  @param head  from 0
/// Queries, keys, values, weights and context are the model's. It never keeps the scores: they are computed here from
/// its queries and keys, summed in double. Throws Error(kUsage): "inspect: head 8, but decoder.layers.0.cross_attention
/// has 8; count from 0", and what Inspection::weights throws.
InspectedHead inspect_head(const Inspection& inspection, std::string_view path, int64_t head);

}  // namespace dragoman::decoding
