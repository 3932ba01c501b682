#pragma once

#include <string>
#include <variant>

#include "nn/average_attention.h"
#include "nn/feed_forward.h"
#include "nn/multi_head_attention.h"
#include "nn/residual.h"
#include "nn/ssru.h"

namespace dragoman::nn {

/// Where a decoder layer finds the rows before a row: keys and values, or a running mean, as its sub-layer needs.
class PastSource {
 public:
  PastSource(KeyValueSource& key_values) : source_(&key_values) {}  // NOLINT: either kind is a source
  PastSource(RunningMean& mean) : source_(&mean) {}                 // NOLINT

  /// Requires: it was made of keys and values.
  KeyValueSource& key_values() const { return *std::get<KeyValueSource*>(source_); }
  /// Requires: it was made of a running mean.
  RunningMean& mean() const { return *std::get<RunningMean*>(source_); }

 private:
  std::variant<KeyValueSource*, RunningMean*> source_;
};

/// Computes a sub-layer over the rows so far (DecoderSublayer), cross-attention over the encoder's output and
/// feed-forward, each inside a residual connection. The same forward trains (RaggedKeyValues, RaggedRunningMean) and
/// decodes (a cache, or kept states). The parameters of the first sub-layer are PATH.self_attention.*, PATH.ssru.* or
/// PATH.average_attention.*.
/// Source: Vaswani et al. 2017, section 3.1, "Decoder".
class DecoderLayer {
 public:
  DecoderLayer(ParameterSet& parameters, const std::string& path, const LayerConfig& config);
  /// @param x [Nt, D];  @param past  of the kind of the first sub-layer;  @param context  over the rows of x
  /// @return [Nt, D]
  Variable forward(Variable x, PastSource past, KeyValueSource& cross_key_values, const ForwardContext& context) const;

  const MultiHeadAttention& cross_attention() const { return cross_attention_; }

 private:
  using Sublayer = std::variant<MultiHeadAttention, Ssru, AverageAttention>;
  static Sublayer make_sublayer(ParameterSet& parameters, const std::string& path, const LayerConfig& config);
  Variable read(const Variable& x, PastSource past, const ForwardContext& context) const;

  Sublayer past_;
  Residual past_residual_;
  MultiHeadAttention cross_attention_;
  Residual cross_attention_residual_;
  FeedForward feed_forward_;
  Residual feed_forward_residual_;
};

}  // namespace dragoman::nn
