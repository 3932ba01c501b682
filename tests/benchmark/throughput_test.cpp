#include "benchmark/throughput.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "benchmark/product_speed.h"
#include "benchmark/translation_speed.h"
#include "support/error_of.h"

namespace dragoman::benchmark {
namespace {

constexpr double kMega = 1e6;

ThroughputOptions small_options() {
  ThroughputOptions options;
  options.model = benchmark_shape("tiny");
  options.model.source_vocab_size = options.model.target_vocab_size = 50;
  options.model.d_model = 16;
  options.model.d_ff = 32;
  options.model.n_heads = 2;
  options.model.encoder_layers = options.model.decoder_layers = 1;
  options.sentences = 5;
  options.source_length = 4;
  options.target_length = 3;
  options.warmup = 1;
  options.steps = 3;
  return options;
}

// Known sizes for 30 source and 30 target tokens, in millions of operations for each target token.
TEST(TrainingFlops, KnownShapes) {
  EXPECT_NEAR(training_flops(benchmark_shape("base"), 30, 30) / 30 / kMega, 365, 0.5);
  EXPECT_NEAR(training_flops(benchmark_shape("d256"), 30, 30) / 30 / kMega, 46.0, 0.1);
  EXPECT_NEAR(training_flops(benchmark_shape("tiny"), 30, 30) / 30 / kMega, 16, 0.1);
}

// Counted by hand: one token on each side, so attention is one product of two rows for scores and one for the sum.
TEST(TrainingFlops, OneTokenByHand) {
  models::TransformerConfig model = small_options().model;
  const double d = 16, f = 32, v = 50;
  const double encoder = 2 * (4 * d * d + 2 * d * f + 2 * d);
  const double decoder = 2 * (8 * d * d + 2 * d * f + 4 * d);
  EXPECT_DOUBLE_EQ(training_flops(model, 1, 1), 3 * (encoder + decoder + 2 * d * v));
}

// Each hypothesis costs as much as the first; the source is read once.
TEST(TranslationFlops, HypothesesShareTheSource) {
  const models::TransformerConfig model = benchmark_shape("base");
  const auto flops = [&](int64_t n_hypotheses) { return translation_flops(model, 30, 30, n_hypotheses) / 30 / kMega; };
  EXPECT_NEAR(flops(1), 122, 0.5);
  EXPECT_NEAR(flops(4), 354, 0.5);
  EXPECT_NEAR(flops(3) - flops(2), flops(2) - flops(1), 1e-6);
}

TEST(TrainingFlops, LayersAddUp) {
  models::TransformerConfig model = small_options().model;
  const auto flops = [&](int encoder_layers, int decoder_layers) {
    model.encoder_layers = encoder_layers;
    model.decoder_layers = decoder_layers;
    return training_flops(model, 7, 9);
  };
  EXPECT_DOUBLE_EQ(flops(3, 5) - flops(2, 5), flops(2, 5) - flops(1, 5));
  EXPECT_DOUBLE_EQ(flops(3, 5) - flops(3, 4), flops(3, 4) - flops(3, 3));
}

TEST(Median, MiddleWhateverTheOrder) {
  EXPECT_DOUBLE_EQ(median({3.0, 1.0, 2.0}), 2.0);
  EXPECT_DOUBLE_EQ(median({4.0, 1.0, 3.0, 2.0}), 2.5);
  EXPECT_THROW(median({}), base::Error);
}

TEST(Throughput, MeasuresEveryUpdate) {
  for (const int workers : {1, 2}) {
    ThroughputOptions options = small_options();
    options.workers.workers = workers;
    distributed::SingleProcess alone;
    const Throughput measured = measure_training(options, alone);
    EXPECT_EQ(measured.step_seconds.size(), 3U);
    EXPECT_EQ(measured.target_tokens, 5 * 3);
    EXPECT_DOUBLE_EQ(measured.flops, 5 * training_flops(options.model, 4, 3));
    EXPECT_DOUBLE_EQ(measured.tokens_per_second() * measured.median_seconds(), 15.0);
    EXPECT_GE(measured.gradient_bytes, static_cast<uint64_t>(workers * measured.parameters) * sizeof(float));
    EXPECT_GT(measured.activation_bytes, 15U * static_cast<uint64_t>(options.model.d_model) * sizeof(float));
    const training::UpdateTimes& times = measured.times;
    EXPECT_GT(times.forward, 0.0);
    EXPECT_LE(times.total() * 3, measured.step_seconds[0] + measured.step_seconds[1] + measured.step_seconds[2]);
  }
}

TEST(Throughput, RefusesWhatCannotBeMeasured) {
  const auto message = [](auto change) -> std::string {
    ThroughputOptions options = small_options();
    change(options);
    try {
      distributed::SingleProcess alone;
      measure_training(options, alone);
    } catch (const base::Error& error) {
      EXPECT_EQ(error.kind(), base::ErrorKind::kUsage);
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message([](auto& options) { options.steps = 0; }), "steps is 0, must be at least 1");
  EXPECT_EQ(message([](auto& options) { options.warmup = -1; }), "warmup is -1, must not be negative");
  EXPECT_EQ(message([](auto& options) { options.source_length = 2000; }),
            "a sentence of 2000 tokens, but max_positions is 1024");
  EXPECT_EQ(message([](auto& options) { options.model.target_vocab_size = 4; }),
            "vocabulary of 4, must be more than the 4 special ids");
}

TEST(TranslationSpeed, MeasuresEveryRunAndStep) {
  for (const auto precision : {kernels::Precision::kFloat32, kernels::Precision::kInt8}) {
    TranslationSpeedOptions options;
    options.model = small_options().model;
    options.precision = precision;
    options.search.beam_size = 2;
    options.search.execution.workers = 2;
    options.search.execution.batch_tokens = 12;
    options.sentences = 9;
    options.source_length = 4;
    options.target_length = 11;
    options.runs = 3;
    const TranslationSpeed measured = measure_translation(options);
    EXPECT_EQ(measured.run_seconds.size(), 3U);
    EXPECT_EQ(measured.target_tokens, 9 * 11) << "every translation is as long as was asked for";
    EXPECT_DOUBLE_EQ(measured.flops, 9 * translation_flops(options.model, 4, 11, 2));
    EXPECT_GT(measured.product_gflops_per_second, 0.0);
    EXPECT_EQ(measured.step_rows, 3 * 2) << "12 tokens in work are 3 sentences of 4, with a beam of 2";
    std::vector<int64_t> positions;
    for (const StepCost& cost : measured.step_costs) {
      positions.push_back(cost.position);
      EXPECT_GT(cost.seconds, 0.0) << "position " << cost.position;
    }
    EXPECT_EQ(positions, (std::vector<int64_t>{1, 2, 4, 8, 11}));
  }
}

TEST(TranslationSpeed, RefusesWhatCannotBeMeasured) {
  TranslationSpeedOptions options;
  options.model = small_options().model;
  options.runs = 0;
  EXPECT_THROW(measure_translation(options), base::Error);
  options.runs = 1;
  options.target_length = 2000;
  EXPECT_THROW(measure_translation(options), base::Error);
}

TEST(BenchmarkShape, UnknownNameListsTheKnown) {
  EXPECT_EQ(test_support::error_of([] { benchmark_shape("basis"); }),
            "shape: 'basis' is not known; choose one of base, d256, tiny");
}

TEST(ProductSpeed, CoversForwardAndBothGradients) {
  const auto speeds = measure_products(small_options().model, 20, {2}, 0.001);
  ASSERT_EQ(speeds.size(), 12U);
  for (const ProductSpeed& speed : speeds) {
    EXPECT_GT(speed.gflops_per_second, 0.0) << speed.use << ", " << speed.pass;
  }
  for (size_t index = 0; index < speeds.size(); index += 3) {
    const auto work = [&](size_t pass) {
      const ProductSpeed& speed = speeds[index + pass];
      return speed.rows * speed.depth * speed.columns;
    };
    EXPECT_EQ(work(0), work(1)) << speeds[index].use;
    EXPECT_EQ(work(0), work(2)) << speeds[index].use;
  }
}

}  // namespace
}  // namespace dragoman::benchmark
