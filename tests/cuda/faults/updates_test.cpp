// Updates of small models, in float32 and bfloat16, under a sanitizer: kernels that no single op runs in bfloat16.
#include <gtest/gtest.h>

#include "cuda/model_updates.h"
#include "support/cuda_device.h"
#include "support/tiny_config.h"

namespace dragoman::models {
namespace {

TransformerConfig of_the_paper() {
  TransformerConfig config = test_support::tiny_config();
  config.encoder_layers = config.decoder_layers = 1;
  config.dropout = 0.2F;
  config.attention_dropout = config.activation_dropout = config.source_word_dropout = 0.1F;
  return config;
}

TransformerConfig of_today() {
  TransformerConfig config = of_the_paper();
  config.d_model = 128;  // heads of 32 columns take tensor cores in bfloat16
  config.d_ff = 96;
  config.positions = nn::PositionKind::kRotary;
  config.norm_order = nn::NormOrder::kPre;
  config.activation = kernels::Activation::kSilu;
  config.layer.norm = kernels::NormKind::kRms;
  config.layer.feed_forward = nn::FeedForwardKind::kGated;
  config.layer.qk_norm = true;
  return config;
}

TEST(CudaCheckedUpdates, LoseNearlyAsOnTheCpu) {
  const std::vector<int32_t> lengths{5, 1, 9};
  for (const TransformerConfig& config : {of_the_paper(), of_today()}) {
    const double expected = test_support::ModelUpdates(config, kernels::Precision::kFloat32).update(lengths);
    for (const kernels::Precision precision : {kernels::Precision::kFloat32, kernels::Precision::kBFloat16}) {
      const test_support::OnCuda device;
      EXPECT_NEAR(test_support::ModelUpdates(config, precision).update(lengths), expected, 1e-2 * expected);
    }
  }
}

}  // namespace
}  // namespace dragoman::models
