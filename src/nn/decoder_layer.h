#pragma once

#include <string>

#include "nn/feed_forward.h"
#include "nn/multi_head_attention.h"
#include "nn/residual.h"

namespace dragoman::nn {

/// Computes causal self-attention, cross-attention over the encoder's output and feed-forward, each inside a residual
/// connection. The same forward trains (RaggedKeyValues) and decodes (a cache).
/// Source: Vaswani et al. 2017, section 3.1, "Decoder".
class DecoderLayer {
 public:
  DecoderLayer(ParameterSet& parameters, const std::string& path, const LayerConfig& config);
  /// @param x [Nt, D];  @param context  over the rows of x;  @return [Nt, D]
  Variable forward(Variable x, KeyValueSource& self_key_values, KeyValueSource& cross_key_values,
                   const ForwardContext& context) const;

  const MultiHeadAttention& cross_attention() const { return cross_attention_; }

 private:
  MultiHeadAttention self_attention_;
  Residual self_attention_residual_;
  MultiHeadAttention cross_attention_;
  Residual cross_attention_residual_;
  FeedForward feed_forward_;
  Residual feed_forward_residual_;
};

}  // namespace dragoman::nn
