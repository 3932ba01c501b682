#include "golden_run.h"
#include "models/transformer/transformer.h"
#include "support/tiny_config.h"

namespace dragoman {
namespace {

struct Golden {
  const char* file;
  nn::NormOrder order;
  models::Tying tying;
  nn::DecoderSublayer sublayer = nn::DecoderSublayer::kSelfAttention;
};

class GoldenRun : public testing::TestWithParam<Golden> {
 protected:
  GoldenRun() : model_(config()), run_(GetParam().file) { run_.load(model_); }

  static models::TransformerConfig config() {
    models::TransformerConfig config = test_support::tiny_config(29);
    config.d_model = 16;
    config.d_ff = 40;
    config.norm_order = GetParam().order;
    config.tying = GetParam().tying;
    config.decoder_sublayer = GetParam().sublayer;
    config.dropout = 0.0F;
    return config;
  }

  models::Transformer model_;
  StoredRun run_;
};
INSTANTIATE_TEST_SUITE_P(
    Norms, GoldenRun,
    testing::Values(Golden{"transformer_post_norm.safetensors", nn::NormOrder::kPost, models::Tying::kAll},
                    Golden{"transformer_pre_norm.safetensors", nn::NormOrder::kPre, models::Tying::kNone}));
// make_golden_decoder_sublayers.py
INSTANTIATE_TEST_SUITE_P(DecoderSublayers, GoldenRun,
                         testing::Values(Golden{"decoder_ssru_post.safetensors", nn::NormOrder::kPost,
                                                models::Tying::kAll, nn::DecoderSublayer::kSsru},
                                         Golden{"decoder_ssru_pre.safetensors", nn::NormOrder::kPre,
                                                models::Tying::kAll, nn::DecoderSublayer::kSsru},
                                         Golden{"decoder_average_attention_post.safetensors", nn::NormOrder::kPost,
                                                models::Tying::kAll, nn::DecoderSublayer::kAverageAttention},
                                         Golden{"decoder_average_attention_pre.safetensors", nn::NormOrder::kPre,
                                                models::Tying::kAll, nn::DecoderSublayer::kAverageAttention}));

TEST_P(GoldenRun, LogitsAndAllGradientsEqualPyTorch) {
  run_.expect_logits_and_gradients(model_);
}

TEST_P(GoldenRun, TenAdamStepsLoseAndMoveAsInPyTorch) {
  for (const int workers : {1, 2}) {
    models::Transformer model(config());
    run_.load(model);
    run_.expect_losses_of_ten_steps(model, workers);
    run_.expect_movements(model);
  }
}

}  // namespace
}  // namespace dragoman
