// Training and translating on a GPU, or on its emulation.
#include <gmock/gmock.h>

#include <cmath>
#include <sstream>

#include "base/files.h"
#include "data/sample/sample_corpus.h"
#include "decoding/load_translator.h"
#include "models/transformer/transformer.h"
#include "support/cuda_device.h"
#include "support/cuda_test.h"
#include "support/random_batch.h"
#include "support/temporary_folder.h"
#include "support/tiny_config.h"
#include "tensor/safetensors.h"
#include "tensor/transfer.h"
#include "training/checkpoint.h"
#include "training/data_parallel.h"
#include "training/presets.h"
#include "training/trainer.h"

namespace dragoman::training {
namespace {

using kernels::Precision;
using test_support::OnCuda;

class CudaTraining : public test_support::CudaTest {};

/// The loss of each update, and the weights after the last.
struct Trained {
  std::vector<double> losses;
  std::vector<float> weights;
};

// Updates on the current device, with dropout everywhere.
Trained train(double rdrop, Precision precision, int steps = 20) {
  models::TransformerConfig config = test_support::tiny_config();
  config.encoder_layers = config.decoder_layers = 1;
  config.n_heads = 2;
  config.dropout = 0.2F;
  config.attention_dropout = config.activation_dropout = config.source_word_dropout = 0.1F;
  models::Transformer model(config);
  model.parameters().allocate();
  model.parameters().initialize(3);
  AdamOptions adam;
  adam.clip_norm = 1.0;
  distributed::SingleProcess alone;
  DataParallel replicas(model, next_word_objective({.rdrop = rdrop}), adam, alone, {1, precision});
  Trained trained;
  for (int step = 1; step <= steps; ++step) {
    const data::Batch batch = test_support::random_batch(static_cast<uint64_t>(step), 6);
    trained.losses.push_back(replicas.update({&batch, 1}, step, 1e-3, 7).sums.loss_per_token());
  }
  trained.weights = model.parameters().values().to_vector<float>();
  return trained;
}

TEST_F(CudaTraining, TwentyUpdatesWithDropoutLoseAsOnTheCpu) {
  for (const double rdrop : {0.0, 5.0}) {
    const Trained expected = train(rdrop, Precision::kFloat32);
    const OnCuda device;
    const Trained seen = train(rdrop, Precision::kFloat32);
    EXPECT_NEAR(seen.losses.front(), expected.losses.front(), 1e-5 * expected.losses.front());
    for (size_t step = 0; step < seen.losses.size(); ++step) {
      EXPECT_NEAR(seen.losses[step], expected.losses[step], 1e-3 * expected.losses[step]) << "update " << step + 1;
    }
    EXPECT_LT(seen.losses.back(), seen.losses.front());
  }
}

TEST_F(CudaTraining, ARunGivesTheSameBitsAgain) {
  const OnCuda device;
  const Trained first = train(0.0, Precision::kFloat32, 5), second = train(0.0, Precision::kFloat32, 5);
  EXPECT_EQ(first.losses, second.losses);
  EXPECT_EQ(first.weights, second.weights);
}

TEST_F(CudaTraining, ProductsInBfloat16LoseNearlyTheSame) {
  const Trained expected = train(0.0, Precision::kFloat32);
  const OnCuda device;
  const Trained seen = train(0.0, Precision::kBFloat16);
  for (size_t step = 0; step < seen.losses.size(); ++step) {
    EXPECT_NEAR(seen.losses[step], expected.losses[step], 1e-2 * expected.losses[step]) << "update " << step + 1;
  }
}

TrainOptions run_options(const std::filesystem::path& folder) {
  data::SampleCorpusOptions corpus;
  corpus.size = 200;
  corpus.output = folder / "corpus";
  data::write_sample_corpus(corpus);
  TrainOptions options = preset_options("tiny");
  options.source = {folder / "corpus/train.en"};
  options.target = {folder / "corpus/train.de"};
  options.valid_source = {folder / "corpus/valid.en"};
  options.valid_target = {folder / "corpus/valid.de"};
  options.model_folder = folder / "model";
  options.model = options.model.with<models::TransformerConfig>([](auto& shape) {
    shape.d_model = 16;
    shape.d_ff = 32;
    shape.n_heads = 2;
    shape.encoder_layers = shape.decoder_layers = 1;
  });
  options.vocabulary.size = 300;
  options.precision = Precision::kFloat32;
  options.batch.batch_tokens = 120;
  options.batch.max_length = 100;
  options.run.workers = 1;
  options.run.validate_every = 4;
  options.run.metric = ValidationMetric::kLoss;
  options.run.average = 0;
  options.run.ema_decay = 0.9;
  return options;
}

void run_to(TrainOptions options, const std::filesystem::path& model_folder, int64_t max_steps) {
  options.model_folder = model_folder;
  options.run.max_steps = max_steps;
  std::ostringstream terminal;
  Trainer trainer(options, terminal);
  ASSERT_EQ(trainer.run(), StopReason::kMaxSteps) << terminal.str();
}

TEST_F(CudaTraining, TwentyUpdatesWithAStopHaveTheBitsOfThoseWithout) {
  const test_support::TemporaryFolder folder;
  TrainOptions options = run_options(folder.path());
  options.run.validate_every = 100;
  options.precision = Precision::kBFloat16;
  const OnCuda device;
  run_to(options, folder.path() / "whole", 20);
  run_to(options, folder.path() / "parts", 7);
  run_to(options, folder.path() / "parts", 20);
  for (const char* file : {"model.safetensors", "optimizer.safetensors"}) {
    EXPECT_EQ(base::sha256_file(checkpoint_folder(folder.path() / "parts", 20) / file),
              base::sha256_file(checkpoint_folder(folder.path() / "whole", 20) / file))
        << file;
  }
}

std::vector<float> weights_after(const std::filesystem::path& model_folder, int64_t step) {
  const std::filesystem::path file = checkpoint_folder(model_folder, step) / "model.safetensors";
  std::vector<float> weights;
  for (const auto& [name, values] : tensor::read_safetensors(base::read_file(file), file.string())) {
    const std::vector<float> each = values.to_vector<float>();
    weights.insert(weights.end(), each.begin(), each.end());
  }
  return weights;
}

TEST_F(CudaTraining, CheckpointsMoveBetweenTheCpuAndAGpu) {
  const test_support::TemporaryFolder folder;
  TrainOptions options = run_options(folder.path());
  options.run.validate_every = 100;
  run_to(options, folder.path() / "cpu", 5);
  const auto run_on_gpu = [&](const char* name, int64_t steps) {
    const OnCuda device;
    run_to(options, folder.path() / name, steps);
  };
  run_on_gpu("gpu first", 3);
  run_to(options, folder.path() / "gpu first", 5);
  run_to(options, folder.path() / "cpu first", 3);
  run_on_gpu("cpu first", 5);
  const std::vector<float> expected = weights_after(folder.path() / "cpu", 5);
  for (const char* name : {"gpu first", "cpu first"}) {
    EXPECT_THAT(weights_after(folder.path() / name, 5), testing::Pointwise(testing::FloatNear(1e-4F), expected))
        << name;
  }
}

// A whole run of the program: files in, a model out, stopped and resumed, then searched with a beam.
TEST_F(CudaTraining, TrainsSavesResumesAndTranslates) {
  const test_support::TemporaryFolder folder;
  TrainOptions options = run_options(folder.path());
  const OnCuda device;
  for (const int64_t max_steps : {3, 6}) {
    options.run.max_steps = max_steps;
    std::ostringstream terminal;
    Trainer trainer(options, terminal);
    ASSERT_EQ(trainer.run(), StopReason::kMaxSteps) << terminal.str();
  }
  const auto translate = [&] {
    const decoding::Translator translator = decoding::load_translator(options.model_folder, Precision::kFloat32);
    const std::vector<std::string> lines = {"The old man sees a small dog.", ""};
    decoding::SearchOptions search;
    search.beam_size = 3;
    search.length.max_length_extra = 0;
    search.execution.workers = 1;
    return translator.translate(lines, search).size();
  };
  EXPECT_EQ(translate(), 2U);
}

}  // namespace
}  // namespace dragoman::training
