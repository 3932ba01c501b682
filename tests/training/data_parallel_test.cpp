#include "training/data_parallel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>

#include "models/transformer/transformer.h"
#include "support/random_batch.h"
#include "support/tiny_config.h"

namespace dragoman::training {
namespace {

models::TransformerConfig small_config() {
  models::TransformerConfig config = test_support::tiny_config();
  config.dropout = 0.2F;
  config.attention_dropout = 0.1F;
  config.activation_dropout = 0.1F;
  return config;
}

models::TransformerConfig with_word_dropout() {
  models::TransformerConfig config = small_config();
  config.source_word_dropout = config.target_word_dropout = 0.1F;
  return config;
}

struct Recipe {
  models::TransformerConfig config = small_config();
  ObjectiveOptions loss = {};
  nn::Recompute recompute = nn::Recompute::kNone;
  kernels::Precision precision = kernels::Precision::kFloat32;
  OptimizerKind optimizer = OptimizerKind::kAdam;
};

// Weights after `steps` updates, two batches each.
std::vector<float> train(int workers, int steps, double* last_loss = nullptr, const Recipe& recipe = {}) {
  models::Transformer model(recipe.config);
  model.parameters().allocate();
  model.parameters().initialize(3);
  AdamOptions adam;
  adam.clip_norm = 1.0;
  adam.optimizer = recipe.optimizer;
  distributed::SingleProcess alone;
  DataParallel replicas(model, next_word_objective(recipe.loss), adam, alone, {workers, recipe.precision});
  replicas.set_recompute(recipe.recompute);
  for (int step = 1; step <= steps; ++step) {
    const auto seed = static_cast<uint64_t>(step);
    const std::vector<data::Batch> batches{test_support::random_batch(2 * seed, 9),
                                           test_support::random_batch(2 * seed + 1, 5)};
    const UpdateResult result = replicas.update(batches, step, 1e-3, 7);
    if (last_loss != nullptr) {
      *last_loss = result.sums.loss_per_token() + result.sums.kl_per_token();
    }
  }
  return model.parameters().values().to_vector<float>();
}

TEST(DataParallel, AnyNumberOfWorkersSeesTheSameLossWithDropout) {
  double one = 0.0, two = 0.0, four = 0.0;
  train(1, 30, &one);
  train(2, 30, &two);
  train(4, 30, &four);
  EXPECT_NEAR(one, two, 2e-4 * one);
  EXPECT_NEAR(one, four, 2e-4 * one);
}

TEST(DataParallel, AnyNumberOfWorkersSeesTheSameLossWithTwoPassesAndWordDropout) {
  for (const ObjectiveOptions& loss : {ObjectiveOptions{.rdrop = 5.0}, ObjectiveOptions{.simcut = 3.0}}) {
    const Recipe recipe{with_word_dropout(), loss};
    double one = 0.0, two = 0.0, four = 0.0;
    train(1, 30, &one, recipe);
    train(2, 30, &two, recipe);
    train(4, 30, &four, recipe);
    EXPECT_NEAR(one, two, 2e-4 * one) << "R-Drop " << loss.rdrop;
    EXPECT_NEAR(one, four, 2e-4 * one) << "R-Drop " << loss.rdrop;
  }
}

// Rounding the operands to 8 bits moves the loss a little; the weights, moments and sums stay float32.
TEST(DataParallel, BFloat16LearnsAsFloat32Does) {
  double exact = 0.0, rounded = 0.0, again = 0.0;
  const Recipe recipe{.precision = kernels::Precision::kBFloat16};
  const std::vector<float> weights = train(2, 60, &rounded, recipe);
  EXPECT_NE(weights, train(2, 60, &exact)) << "nothing was rounded";
  EXPECT_NEAR(rounded, exact, 0.01 * exact);
  EXPECT_EQ(weights, train(2, 60, &again, recipe)) << "the same run gave other bits";
  train(4, 60, &again, recipe);
  EXPECT_NEAR(again, rounded, 0.01 * rounded) << "4 workers instead of 2";
}

TEST(DataParallel, TheSameNumberOfWorkersGivesTheSameBits) {
  EXPECT_EQ(train(1, 5), train(1, 5));
  EXPECT_EQ(train(3, 5), train(3, 5));
  const Recipe recipe{with_word_dropout(), {.rdrop = 5.0}};
  EXPECT_EQ(train(2, 5, nullptr, recipe), train(2, 5, nullptr, recipe));
}

TEST(DataParallel, MuonGivesTheSameBitsAgainAndTheSameLossWithAnyNumberOfWorkers) {
  const Recipe recipe{.optimizer = OptimizerKind::kMuon};
  double one = 0.0, two = 0.0, four = 0.0;
  train(1, 30, &one, recipe);
  const std::vector<float> weights = train(2, 30, &two, recipe);
  train(4, 30, &four, recipe);
  EXPECT_NEAR(one, two, 2e-3 * one);
  EXPECT_NEAR(one, four, 2e-3 * one);
  EXPECT_EQ(train(2, 30, nullptr, recipe), weights);
  EXPECT_NE(train(2, 30), weights);
}

// The sums of one update of one batch from fresh weights.
LossSums first_update(const models::TransformerConfig& config, const ObjectiveOptions& loss) {
  models::Transformer model(config);
  model.parameters().allocate();
  model.parameters().initialize(3);
  const std::vector<data::Batch> batches{test_support::random_batch(1, 20)};
  distributed::SingleProcess alone;
  return DataParallel(model, next_word_objective(loss), {}, alone, {1}).update(batches, 1, 1e-3, 7).sums;
}

TEST(DataParallel, WithoutDropoutBothPassesOfRdropAgree) {
  models::TransformerConfig config = small_config();
  config.dropout = config.attention_dropout = config.activation_dropout = 0.0F;
  const LossSums plain = first_update(config, {}), rdrop = first_update(config, {.rdrop = 5.0});
  EXPECT_EQ(rdrop.kl, 0.0);
  EXPECT_EQ(rdrop.tokens, plain.tokens) << "a token counts once";
  EXPECT_EQ(rdrop.correct, plain.correct);
  EXPECT_NEAR(rdrop.loss, plain.loss, 1e-6 * plain.loss);
  EXPECT_NEAR(rdrop.nll, plain.nll, 1e-6 * plain.nll);
}

TEST(DataParallel, EachDropoutAloneDiffersBetweenThePassesOfRdrop) {
  using Config = models::TransformerConfig;
  for (float Config::*const field : {&Config::dropout, &Config::attention_dropout, &Config::activation_dropout,
                                     &Config::source_word_dropout, &Config::target_word_dropout}) {
    Config config = small_config();
    config.dropout = config.attention_dropout = config.activation_dropout = 0.0F;
    config.*field = 0.3F;
    EXPECT_GT(first_update(config, {.rdrop = 5.0}).kl, 1e-4) << models::to_json(config);
  }
}

TEST(DataParallel, TheSecondPassOfSimCutMissesWords) {
  models::TransformerConfig config = small_config();
  config.dropout = config.attention_dropout = config.activation_dropout = 0.0F;
  const LossSums plain = first_update(config, {});
  const LossSums nothing_cut = first_update(config, {.simcut = 3.0, .simcut_words = 0.0});
  const LossSums cut = first_update(config, {.simcut = 3.0, .simcut_words = 0.2});
  EXPECT_EQ(nothing_cut.kl, 0.0);
  EXPECT_GT(cut.kl, 1e-4);
  EXPECT_NEAR(cut.loss, plain.loss, 1e-6 * plain.loss) << "the first pass sees all words and alone learns the target";
  EXPECT_EQ(cut.correct, plain.correct);
}

// What R-Drop is for: passes that are drawn together end nearer to each other than passes that are only watched.
TEST(DataParallel, RdropDrawsThePassesTogether) {
  const auto last_kl = [](double rdrop) {
    models::Transformer model(small_config());
    model.parameters().allocate();
    model.parameters().initialize(3);
    distributed::SingleProcess alone;
    DataParallel replicas(model, next_word_objective({.rdrop = rdrop}), {}, alone, {1});
    const std::vector<data::Batch> batches{test_support::random_batch(1, 10)};
    double kl = 0.0;
    for (int step = 1; step <= 150; ++step) {
      kl = replicas.update(batches, step, 1e-3, 7).sums.kl_per_token();
    }
    return kl;
  };
  EXPECT_LT(last_kl(5.0), 0.5 * last_kl(1e-9)) << "nats per token";
}

TEST(DataParallel, RecomputedLayersGiveTheSameBits) {
  Recipe recipe{with_word_dropout()};
  for (const double rdrop : {0.0, 5.0}) {
    recipe.loss.rdrop = rdrop;
    recipe.recompute = nn::Recompute::kNone;
    const std::vector<float> kept = train(2, 5, nullptr, recipe);
    recipe.recompute = nn::Recompute::kLayers;
    EXPECT_EQ(train(2, 5, nullptr, recipe), kept) << "R-Drop " << rdrop;
  }
}

TEST(DataParallel, RecomputedLayersNeedLessMemory) {
  const auto peak = [](nn::Recompute recompute) {
    models::TransformerConfig config = small_config();
    config.encoder_layers = config.decoder_layers = 6;
    models::Transformer model(config);
    model.parameters().allocate();
    model.parameters().initialize(3);
    distributed::SingleProcess alone;
    DataParallel replicas(model, next_word_objective({}), {}, alone, {1});
    replicas.set_recompute(recompute);
    const uint64_t before = replicas.arena_counters(0).live_bytes;
    const std::vector<data::Batch> batches{test_support::random_batch(1, 200)};
    replicas.update(batches, 1, 1e-3, 7);
    return replicas.arena_counters(0).peak_bytes - before;
  };
  const uint64_t kept = peak(nn::Recompute::kNone), again = peak(nn::Recompute::kLayers);
  EXPECT_GT(kept, 3 * again) << "bytes of activations";
}

TEST(DataParallel, MeasuringAPassTellsWhatAnUpdateTakesAndChangesNothing) {
  const auto weights_after = [](bool measured) {
    models::Transformer model(small_config());
    model.parameters().allocate();
    model.parameters().initialize(3);
    distributed::SingleProcess alone;
    DataParallel replicas(model, next_word_objective({}), {}, alone, {1});
    const std::vector<data::Batch> batches{test_support::random_batch(1, 40)};
    for (int step = 1; step <= 3; ++step) {
      const tensor::ArenaCounters before = replicas.arena_counters(0);
      const uint64_t taken = measured ? replicas.measure_pass(batches.front()).peak_bytes : 0;
      EXPECT_EQ(replicas.arena_counters(0).system_bytes, before.system_bytes) << "measured in another arena";
      replicas.update(batches, step, 1e-3, 7);
      if (measured && step == 1) {
        const auto update = static_cast<double>(replicas.arena_counters(0).peak_bytes - before.live_bytes);
        EXPECT_NEAR(static_cast<double>(taken), update, 0.01 * update) << "bytes of the same batch";
      }
    }
    return model.parameters().values().to_vector<float>();
  };
  EXPECT_EQ(weights_after(true), weights_after(false));
}

TEST(DataParallel, GivenBackMemoryIsTakenAgain) {
  models::Transformer model(small_config());
  model.parameters().allocate();
  model.parameters().initialize(3);
  distributed::SingleProcess alone;
  DataParallel replicas(model, next_word_objective({}), {}, alone, {2});
  const std::vector<data::Batch> batches{test_support::random_batch(1, 4000)};
  replicas.update(batches, 1, 1e-3, 7);
  const uint64_t warm = replicas.arena_counters(1).system_bytes;
  replicas.give_back_memory();
  EXPECT_LT(replicas.arena_counters(1).system_bytes, warm);
  replicas.reserve(warm);
  const uint64_t requests = replicas.arena_counters(1).system_requests;
  EXPECT_TRUE(replicas.update(batches, 2, 1e-3, 7).applied);
  EXPECT_EQ(replicas.arena_counters(1).system_requests, requests) << "what was reserved is enough";
}

TEST(DataParallel, MoreWorkersThanSentencesIsFine) {
  models::Transformer model(small_config());
  model.parameters().allocate();
  model.parameters().initialize(3);
  distributed::SingleProcess alone;
  DataParallel replicas(model, next_word_objective({}), {}, alone, {4});
  const std::vector<data::Batch> batches{test_support::random_batch(1, 2)};
  EXPECT_TRUE(replicas.update(batches, 1, 1e-3, 7).applied);
}

void check_that_a_skipped_update_changes_nothing(const models::TransformerConfig& config) {
  models::Transformer model(config);
  model.parameters().allocate();
  model.parameters().initialize(3);
  distributed::SingleProcess alone;
  DataParallel replicas(model, next_word_objective({}), {}, alone, {2});
  const auto write = [&](float value) { model.parameters().mutable_values().data<float>()[5] = value; };
  write(std::numeric_limits<float>::quiet_NaN());
  const std::vector<data::Batch> batches{test_support::random_batch(1, 6)};
  const std::vector<float> before = model.parameters().values().to_vector<float>();
  const UpdateResult result = replicas.update(batches, 1, 1e-3, 7);
  EXPECT_FALSE(result.applied);
  EXPECT_EQ(replicas.applied_updates(), 0);
  const std::vector<float> after = model.parameters().values().to_vector<float>();
  for (size_t index = 0; index < before.size(); ++index) {
    ASSERT_TRUE(index == 5 || before[index] == after[index]) << "weight " << index << " changed";
  }
  write(0.0F);
  EXPECT_TRUE(replicas.update(batches, 2, 1e-3, 7).applied) << "the next update works again";
}

TEST(DataParallel, ANonFiniteGradientLeavesTheWeightsUntouched) {
  check_that_a_skipped_update_changes_nothing(small_config());
}

// The weight that is not a number belongs to the embedding of a word that the encoder does not read, so batch norms
// see finite rows.
TEST(DataParallel, ANonFiniteGradientLeavesRunningStatisticsUntouched) {
  models::TransformerConfig config = small_config();
  config.layer.norm = kernels::NormKind::kBatch;
  check_that_a_skipped_update_changes_nothing(config);
}

// As the trainer does when validation sees the moving average.
TEST(DataParallel, ValuesWrittenFromOutsideAreUsed) {
  models::Transformer model(small_config()), other(small_config());
  model.parameters().allocate();
  model.parameters().initialize(3);
  other.parameters().allocate();
  other.parameters().initialize(4);
  distributed::SingleProcess alone;
  DataParallel replicas(model, next_word_objective({}), {}, alone, {2}),
      expected(other, next_word_objective({}), {}, alone, {2});
  const std::vector<data::Batch> batches{test_support::random_batch(1, 6), test_support::random_batch(2, 3)};
  replicas.update(batches, 1, 1e-3, 7);
  model.parameters().mutable_values().copy_from(other.parameters().values());
  EXPECT_EQ(replicas.evaluate(batches).loss, expected.evaluate(batches).loss);
  model.parameters().initialize(5);
  other.parameters().initialize(5);
  EXPECT_EQ(replicas.update(batches, 2, 1e-3, 7).gradient_norm, expected.update(batches, 2, 1e-3, 7).gradient_norm);
}

TEST(DataParallel, WarmUpdatesAskTheSystemForNoMemory) {
  for (const double rdrop : {0.0, 5.0}) {
    models::Transformer model(with_word_dropout());
    model.parameters().allocate();
    model.parameters().initialize(3);
    distributed::SingleProcess alone;
    AdamOptions adam;
    adam.optimizer = rdrop > 0.0 ? OptimizerKind::kMuon : OptimizerKind::kAdam;
    DataParallel replicas(model, next_word_objective({.rdrop = rdrop}), adam, alone, {2});
    const std::vector<data::Batch> batches{test_support::random_batch(1, 40)};
    replicas.update(batches, 1, 1e-3, 7);
    const auto requests = [&] {
      return replicas.arena_counters(0).system_requests + replicas.arena_counters(1).system_requests;
    };
    const uint64_t warm = requests();
    for (int step = 2; step < 10; ++step) {
      replicas.update(batches, step, 1e-3, 7);
    }
    EXPECT_EQ(requests(), warm) << "R-Drop " << rdrop;
  }
}

// Stands for the other replicas: keeps what every bucket held when its sum began.
class BucketRecorder : public distributed::SingleProcess {
 public:
  void begin_sum(std::span<float> values, int tag) override {
    EXPECT_FALSE(begun.contains(tag)) << "bucket " << tag << " began twice";
    begun[tag] = {values, {values.begin(), values.end()}};
  }
  struct Sum {
    std::span<const float> values;
    std::vector<float> at_begin;
  };
  std::map<int, Sum> begun;
};

TEST(GradientBuckets, SetOutDuringTheBackwardAndAreFinalThen) {
  for (const auto tying : {models::Tying::kAll, models::Tying::kNone}) {
    models::TransformerConfig config = small_config();
    config.tying = tying;
    models::Transformer model(config);
    model.parameters().allocate();
    model.parameters().initialize(3);
    const auto objective = next_word_objective({});
    Replica replica(model, *objective);
    BucketRecorder recorder;
    constexpr int64_t kElements = 1024;
    GradientBuckets buckets(replica.parameters(), recorder, kElements);
    const auto total = static_cast<size_t>((replica.parameters().gradients().size() + kElements - 1) / kElements);
    for (int step = 1; step <= 2; ++step) {
      recorder.begun.clear();
      buckets.begin_update();
      PassSeconds seconds;
      replica.forward_backward(test_support::random_batch(1, 6), {.seed = 7, .step = step, .update_tokens = 50},
                               seconds);
      replica.forward_backward(test_support::random_batch(2, 6), {.seed = 7, .step = step, .update_tokens = 50},
                               seconds,
                               [&](const autograd::Variable& parameter) { buckets.parameter_final(parameter); });
      EXPECT_EQ(recorder.begun.size(), total) << "every parameter gets a gradient, so every bucket is final by now";
      buckets.finish_update();
      EXPECT_EQ(recorder.begun.size(), total);
      for (const auto& [tag, sum] : recorder.begun) {
        EXPECT_TRUE(std::ranges::equal(sum.values, sum.at_begin)) << "bucket " << tag << " changed after its sum began";
      }
    }
  }
}

TEST(DataParallel, LearnsOneBatchByHeart) {
  models::TransformerConfig config = small_config();
  config.dropout = config.attention_dropout = config.activation_dropout = 0.0F;
  models::Transformer model(config);
  model.parameters().allocate();
  model.parameters().initialize(3);
  distributed::SingleProcess alone;
  DataParallel replicas(model, next_word_objective({.label_smoothing = 0.0}), {}, alone, {1});
  const std::vector<data::Batch> batches{test_support::random_batch(1, 6)};
  double loss = 0.0;
  for (int step = 1; step <= 300; ++step) {
    loss = replicas.update(batches, step, 3e-3, 7).sums.loss_per_token();
  }
  EXPECT_LT(loss, 0.01) << "nats per token";
}

}  // namespace
}  // namespace dragoman::training
