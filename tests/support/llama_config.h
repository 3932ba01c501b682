#pragma once

#include "models/decoder_only/decoder_only_config.h"

namespace dragoman::test_support {

/// Returns: the same shape with the layers of a Llama: RMS norms, rotary positions, gated SiLU, no biases, and an
/// output of its own.
inline models::DecoderOnlyConfig as_llama(models::DecoderOnlyConfig config) {
  config.activation = kernels::Activation::kSilu;
  config.positions = nn::PositionKind::kRotary;
  config.tied_output = false;
  config.layer.norm = kernels::NormKind::kRms;
  config.layer.biases = nn::Biases::kNone;
  config.layer.feed_forward = nn::FeedForwardKind::kGated;
  return config;
}

}  // namespace dragoman::test_support
