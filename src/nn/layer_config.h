#pragma once

#include <cstdint>

#include "ops/activation.h"

namespace dragoman::nn {

/// The place of the layer normalisation of a sub-layer.
enum class NormOrder {
  kPost,  ///< LayerNorm(x + Dropout(Sublayer(x))): Vaswani et al. 2017, section 3.1
  kPre,   ///< x + Dropout(Sublayer(LayerNorm(x))): trains deep stacks without warm-up (Wang et al. 2019)
};

constexpr base::Names<NormOrder> names_of(NormOrder) {
  return {"norm_order", {{NormOrder::kPost, "post"}, {NormOrder::kPre, "pre"}}};
}

/// What encoder and decoder layers need to know; models::TransformerConfig fills it.
struct LayerConfig {
  int64_t d_model = 512;
  int64_t d_ff = 2048;
  int n_heads = 8;
  NormOrder norm_order = NormOrder::kPost;
  kernels::Activation activation = kernels::Activation::kRelu;
  float dropout = 0.1F;             ///< on sub-layer outputs and on embeddings
  float attention_dropout = 0.0F;   ///< on attention weights
  float activation_dropout = 0.0F;  ///< after the activation of the feed-forward
  float layer_norm_epsilon = 1e-5F;
};

}  // namespace dragoman::nn
