#pragma once

#include <string>

#include "nn/feed_forward.h"
#include "nn/multi_head_attention.h"
#include "nn/residual.h"

namespace dragoman::nn {

/// Computes self-attention, then feed-forward, each inside a residual connection.
/// Source: Vaswani et al. 2017, section 3.1, "Encoder".
class EncoderLayer {
 public:
  EncoderLayer(ParameterSet& parameters, const std::string& path, const LayerConfig& config);
  /// @param x [Ns, D];  @return [Ns, D]
  Variable forward(Variable x, const RaggedRows& rows, const ForwardContext& context) const;

 private:
  MultiHeadAttention self_attention_;
  Residual self_attention_residual_;
  FeedForward feed_forward_;
  Residual feed_forward_residual_;
};

}  // namespace dragoman::nn
