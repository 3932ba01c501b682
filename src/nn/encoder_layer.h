#pragma once

#include <string>

#include "nn/feed_forward.h"
#include "nn/multi_head_attention.h"
#include "nn/residual.h"

namespace dragoman::nn {

/// Computes self-attention, then feed-forward, each inside a residual connection. A decoder without an encoder is made
/// of the same layers: its source of keys and values is causal, or a cache.
/// Source: Vaswani et al. 2017, section 3.1, "Encoder"; Radford et al. 2018, eq. (2) (without an encoder).
class EncoderLayer {
 public:
  EncoderLayer(ParameterSet& parameters, const std::string& path, const LayerConfig& config);
  /// Every row attends to its whole sentence.  @param x [Ns, D];  @return [Ns, D]
  Variable forward(const Variable& x, const RaggedRows& rows, const ForwardContext& context) const;
  /// @param x [N, D];  @param context  over the rows of x;  @return [N, D]
  Variable forward(Variable x, KeyValueSource& key_values, const ForwardContext& context) const;

  /// Returns: what self-attention reads, [N, D].
  Variable attention_input(const Variable& x) const { return self_attention_residual_.read(x); }
  const MultiHeadAttention& self_attention() const { return self_attention_; }

 private:
  MultiHeadAttention self_attention_;
  Residual self_attention_residual_;
  FeedForward feed_forward_;
  Residual feed_forward_residual_;
};

}  // namespace dragoman::nn
