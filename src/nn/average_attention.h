#pragma once

#include <string>

#include "nn/context.h"
#include "nn/feed_forward.h"
#include "nn/layer_config.h"
#include "nn/linear.h"
#include "nn/running_mean.h"

namespace dragoman::nn {

/// Computes average attention, which stands in place of self-attention in a decoder: every row looks equally at itself
/// and at all rows before it.
///   m_t = (x_1 + ... + x_t) / t,   g_t = FFN(m_t),   y_t = i_t * x_t + f_t * g_t
///   i_t = sigmoid([x_t, g_t] Wi + bi),   f_t = sigmoid([x_t, g_t] Wf + bf)
/// The parameters are PATH.feed_forward.* (FeedForward, as wide as the layer's) and PATH.{input_gate,forget_gate}.*,
/// weights [2D, D]. Unlike in the paper, the gates have a bias with Biases::kAll. All that a row knows of the rows
/// before it is m_{t-1}, D numbers. Source: Zhang et al. 2018, "Accelerating Neural Transformer via an Average
/// Attention Network", section 3.
class AverageAttention {
 public:
  AverageAttention(ParameterSet& parameters, const std::string& path, const LayerConfig& config);
  /// @param x [N, D];  @return [N, D]
  Variable forward(const Variable& x, RunningMean& mean, const ForwardContext& context) const;

 private:
  FeedForward feed_forward_;
  Linear input_gate_;
  Linear forget_gate_;
  std::string path_;
};

}  // namespace dragoman::nn
