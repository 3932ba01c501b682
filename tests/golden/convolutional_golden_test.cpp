#include "golden_run.h"
#include "models/convolutional/convolutional.h"

namespace dragoman {
namespace {

struct Golden {
  const char* file;
  int kernel_width;
  int encoder_layers, decoder_layers;
  bool weight_norm = false;
};

// Runs of torch.nn.Conv1d (make_golden_convolutional.py, make_golden_weight_norm.py).
class ConvolutionalGoldenRun : public testing::TestWithParam<Golden> {
 protected:
  ConvolutionalGoldenRun() : run_(GetParam().file) {}

  static models::ConvolutionalConfig config() {
    models::ConvolutionalConfig config;
    config.source_vocab_size = config.target_vocab_size = 29;
    config.d_model = 12;
    config.d_hidden = 10;
    config.max_positions = 16;
    config.dropout = 0.0F;
    config.kernel_width = GetParam().kernel_width;
    config.encoder_layers = GetParam().encoder_layers;
    config.decoder_layers = GetParam().decoder_layers;
    config.weight_norm = GetParam().weight_norm;
    return config;
  }

  StoredRun run_;
};
INSTANTIATE_TEST_SUITE_P(Shapes, ConvolutionalGoldenRun,
                         testing::Values(Golden{"convolutional_3.safetensors", 3, 2, 2},
                                         Golden{"convolutional_4.safetensors", 4, 1, 3},
                                         Golden{"convolutional_normed.safetensors", 3, 2, 2, true}));

TEST_P(ConvolutionalGoldenRun, LogitsAndAllGradientsEqualPyTorch) {
  models::Convolutional model(config());
  run_.load(model);
  run_.expect_logits_and_gradients(model);
}

TEST_P(ConvolutionalGoldenRun, TenAdamStepsLoseAndMoveAsInPyTorch) {
  for (const int workers : {1, 2}) {
    models::Convolutional model(config());
    run_.load(model);
    run_.expect_losses_of_ten_steps(model, workers);
    run_.expect_movements(model);
  }
}

}  // namespace
}  // namespace dragoman
