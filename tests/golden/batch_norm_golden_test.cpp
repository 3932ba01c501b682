#include "golden_run.h"
#include "models/transformer/transformer.h"

namespace dragoman {
namespace {

struct Golden {
  const char* file;
  nn::NormOrder order;
};

// Runs with torch.nn.BatchNorm1d in the encoder (make_golden_batch_norm.py).
class BatchNormGoldenRun : public testing::TestWithParam<Golden> {
 protected:
  BatchNormGoldenRun() : run_(GetParam().file) {}

  static models::TransformerConfig config() {
    models::TransformerConfig config;
    config.source_vocab_size = config.target_vocab_size = 29;
    config.d_model = 16;
    config.d_ff = 40;
    config.n_heads = 4;
    config.encoder_layers = config.decoder_layers = 2;
    config.norm_order = GetParam().order;
    config.layer.norm = kernels::NormKind::kBatch;
    config.dropout = 0.0F;
    return config;
  }

  StoredRun run_;
};
INSTANTIATE_TEST_SUITE_P(Orders, BatchNormGoldenRun,
                         testing::Values(Golden{"batch_norm_post.safetensors", nn::NormOrder::kPost},
                                         Golden{"batch_norm_pre.safetensors", nn::NormOrder::kPre}));

TEST_P(BatchNormGoldenRun, LogitsAndAllGradientsEqualPyTorch) {
  models::Transformer model(config());
  run_.load(model);
  run_.expect_logits_and_gradients(model, {.training = true});
}

// Of five workers one has no sentence, and takes part in the sums all the same.
TEST_P(BatchNormGoldenRun, TenAdamStepsLoseAndMoveAsInPyTorch) {
  for (const int workers : {1, 2, 5}) {
    models::Transformer model(config());
    run_.load(model);
    run_.expect_losses_of_ten_steps(model, workers);
    run_.expect_movements(model);
    run_.expect_running_values(model);
  }
}

}  // namespace
}  // namespace dragoman
