#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>

#include "nn/layer_options.h"
#include "ops/activation.h"
#include "tensor/tensor.h"

namespace dragoman::nn {

/// The place of the layer normalisation of a sub-layer.
enum class NormOrder {
  kPost,  ///< LayerNorm(x + Dropout(Sublayer(x))): Vaswani et al. 2017, section 3.1
  kPre,   ///< x + Dropout(Sublayer(LayerNorm(x))): trains deep stacks without warm-up (Wang et al. 2019)
};

constexpr base::Names<NormOrder> names_of(NormOrder) {
  return {"norm_order", {{NormOrder::kPost, "post"}, {NormOrder::kPre, "pre"}}};
}

/// The sub-layer of a decoder layer in which a row sees the rows before it.
enum class DecoderSublayer {
  kSelfAttention,     ///< causal self-attention, over keys and values of all rows so far (Vaswani et al. 2017)
  kSsru,              ///< a recurrent unit, Ssru (Kim et al. 2019)
  kAverageAttention,  ///< the mean of all rows so far, AverageAttention (Zhang et al. 2018)
};

constexpr base::Names<DecoderSublayer> names_of(DecoderSublayer) {
  return {"decoder_sublayer",
          {{DecoderSublayer::kSelfAttention, "self-attention"},
           {DecoderSublayer::kSsru, "ssru"},
           {DecoderSublayer::kAverageAttention, "average-attention"}}};
}

/// Standard deviation of the weights of GPT-2 before the first update.
inline constexpr float kGpt2Deviation = 0.02F;

/// An affine map beyond its sizes.
struct LinearOptions {
  bool has_bias = true;
  float deviation = 0.0F;  ///< of the weights before the first update, N(0, deviation^2); 0 = Xavier
  bool by_inputs = false;  ///< the deviation is divided by sqrt(d_in)
  bool normed = false;     ///< weight normalisation: PATH.weight_gain [d_out] holds the lengths of the columns
};

class RelativePositions;

/// What layers need to know; the configuration of a model fills it.
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
  LayerOptions options = {};
  tensor::Tensor rotation = {};  ///< of RoPE (ops::rotation_table), shared by all layers; undefined = no rotation
  int residual_maps = 0;         ///< 2L: the maps that end in the residual stream, for InitialWeights::kGpt2
  std::shared_ptr<const RelativePositions> relative = {};              ///< shared by the layers of a stack; null = none
  DecoderSublayer decoder_sublayer = DecoderSublayer::kSelfAttention;  ///< of decoder layers

  int64_t head_width() const { return options.d_head > 0 ? options.d_head : d_model / n_heads; }
  int64_t key_width() const { return options.d_key > 0 ? options.d_key : head_width(); }
  int kv_heads() const { return options.n_kv_heads > 0 ? options.n_kv_heads : n_heads; }
  /// Returns: the maps of a layer as Linear takes them: inside a sub-layer, and at its end.
  LinearOptions inner_map() const;
  LinearOptions outer_map() const;
};

inline LinearOptions LayerConfig::inner_map() const {
  if (options.initial_weights == InitialWeights::kT5) {
    return {options.biases == Biases::kAll, 1.0F, true};
  }
  return {options.biases == Biases::kAll, options.initial_weights == InitialWeights::kGpt2 ? kGpt2Deviation : 0.0F};
}

inline LinearOptions LayerConfig::outer_map() const {
  LinearOptions map = inner_map();
  if (map.by_inputs) {
    return map;
  }
  map.deviation /= std::sqrt(static_cast<float>(std::max(1, residual_maps)));
  return map;
}

}  // namespace dragoman::nn
