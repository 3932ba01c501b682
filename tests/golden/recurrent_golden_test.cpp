#include "golden_run.h"
#include "models/recurrent/recurrent.h"

namespace dragoman {
namespace {

using kernels::CellKind;
using models::RecurrentAttention;

struct Golden {
  const char* file;
  CellKind cell;
  RecurrentAttention attention;
  bool input_feeding;
  int layers;
  int64_t d_model = 12, d_hidden = 10;
};

// Runs of torch.nn.GRU and torch.nn.LSTM (make_golden_recurrent.py).
class RecurrentGoldenRun : public testing::TestWithParam<Golden> {
 protected:
  RecurrentGoldenRun() : run_(GetParam().file) {}

  static models::RecurrentConfig config() {
    models::RecurrentConfig config;
    config.source_vocab_size = config.target_vocab_size = 29;
    config.d_model = GetParam().d_model;
    config.d_hidden = GetParam().d_hidden;
    config.dropout = 0.0F;
    config.cell = GetParam().cell;
    config.attention = GetParam().attention;
    config.input_feeding = GetParam().input_feeding;
    config.layers = GetParam().layers;
    return config;
  }

  StoredRun run_;
};
INSTANTIATE_TEST_SUITE_P(
    Shapes, RecurrentGoldenRun,
    testing::Values(
        Golden{"recurrent_gru_2.safetensors", CellKind::kGru, RecurrentAttention::kNone, false, 2},
        Golden{"recurrent_gru_luong.safetensors", CellKind::kGru, RecurrentAttention::kLuong, false, 1},
        Golden{"recurrent_gru_bahdanau.safetensors", CellKind::kGru, RecurrentAttention::kBahdanau, false, 1},
        Golden{"recurrent_gru_bahdanau_2.safetensors", CellKind::kGru, RecurrentAttention::kBahdanau, false, 2},
        Golden{"recurrent_gru_feeding_3.safetensors", CellKind::kGru, RecurrentAttention::kLuong, true, 3, 8, 6},
        Golden{"recurrent_lstm.safetensors", CellKind::kLstm, RecurrentAttention::kNone, false, 1},
        Golden{"recurrent_lstm_bahdanau_2.safetensors", CellKind::kLstm, RecurrentAttention::kBahdanau, false, 2},
        Golden{"recurrent_lstm_luong_2.safetensors", CellKind::kLstm, RecurrentAttention::kLuong, false, 2},
        Golden{"recurrent_lstm_feeding.safetensors", CellKind::kLstm, RecurrentAttention::kLuong, true, 1},
        Golden{"recurrent_lstm_feeding_4.safetensors", CellKind::kLstm, RecurrentAttention::kLuong, true, 4, 8, 6}));

TEST_P(RecurrentGoldenRun, LogitsAndAllGradientsEqualPyTorch) {
  models::Recurrent model(config());
  run_.load(model);
  run_.expect_logits_and_gradients(model);
}

TEST_P(RecurrentGoldenRun, TenAdamStepsLoseAndMoveAsInPyTorch) {
  for (const int workers : {1, 2}) {
    models::Recurrent model(config());
    run_.load(model);
    run_.expect_losses_of_ten_steps(model, workers);
    run_.expect_movements(model);
  }
}

}  // namespace
}  // namespace dragoman
