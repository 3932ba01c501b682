#include "training/batch_fit.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"

namespace dragoman::training {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

TEST(WorkerTokens, NoShardOfARealSplitHasMore) {
  base::Random random(3);
  for (int round = 0; round < 300; ++round) {
    const auto max_length = static_cast<int64_t>(2 + random.below(30));
    const int workers = 1 + static_cast<int>(random.below(6));
    data::Batch batch;
    for (uint64_t sentence = 0, count = 1 + random.below(40); sentence < count; ++sentence) {
      const std::vector<int32_t> ids(1 + random.below(static_cast<uint64_t>(max_length)), 5);
      data::append(batch,
                   {sentence, ids, std::vector<int32_t>(ids.begin() + 1, ids.end())});  // as many tokens on both sides
    }
    const int64_t most = worker_tokens(batch.source_tokens(), {workers, max_length});
    const data::BatchShare share = data::split(batch, workers);
    for (const data::Batch& shard : share.shards) {
      ASSERT_LE(shard.source_tokens(), most) << "of " << batch.source_tokens() << " tokens for " << workers
                                             << " workers, sentences of at most " << max_length;
    }
  }
}

TEST(WorkerTokens, BatchForIsTheLargestBatchThatKeepsTheLimit) {
  for (const int64_t workers : {1, 2, 3, 8}) {
    const BatchSpread spread{workers, 20};
    EXPECT_EQ(batch_for(19, spread), 0) << "less than a sentence";
    for (int64_t tokens = 20; tokens < 200; ++tokens) {
      const int64_t batch = batch_for(tokens, spread);
      EXPECT_LE(worker_tokens(batch, spread), tokens);
      EXPECT_GT(worker_tokens(batch + 1, spread), tokens) << batch << " is not the largest";
    }
  }
}

// A pass of `per_token` bytes a token and `fixed` bytes; counts how often it was asked and the longest asked for.
struct Machine {
  uint64_t fixed, per_token;
  int passes = 0;
  uint64_t most = 0;

  MeasurePass measure() {
    return [this](int64_t tokens) {
      ++passes;
      most = std::max(most, fixed + per_token * static_cast<uint64_t>(tokens));
      return fixed + per_token * static_cast<uint64_t>(tokens);
    };
  }
};

TEST(FitBatch, FillsTheRoomAndNeverMeasuresBeyondIt) {
  for (const int64_t workers : {1, 2, 7}) {
    for (const uint64_t fixed : {uint64_t{0}, 3 * kMiB, 40 * kMiB}) {
      for (const uint64_t room : {44 * kMiB, 500 * kMiB, 20'000 * kMiB}) {
        Machine machine{fixed, 12'345};
        const BatchSpread spread{workers, 256};
        const FittedBatch fitted = fit_batch(machine.measure(), spread, 1'000'000'000, room);
        EXPECT_LE(machine.most, room) << "the process would have taken more than it may";
        EXPECT_GE(fitted.pass_bytes, room * 9 / 10) << "room is left";
        EXPECT_LE(fitted.pass_bytes, room);
        EXPECT_LE(worker_tokens(fitted.batch_tokens, spread), static_cast<int64_t>((room - fixed) / machine.per_token));
        EXPECT_LE(machine.passes, 8);
        EXPECT_NEAR(fitted.line.per_token, 12'345, 1);
        EXPECT_NEAR(fitted.line.fixed, static_cast<double>(fixed), 1e3);
      }
    }
  }
}

TEST(FitBatch, TakesWhatIsWantedWhenItFits) {
  Machine machine{kMiB, 1000};
  const FittedBatch fitted = fit_batch(machine.measure(), {2, 100}, 5000, 1000 * kMiB);
  EXPECT_EQ(fitted.batch_tokens, 5000);
  EXPECT_EQ(fitted.pass_bytes, kMiB + 1000 * 2600) << "measured at 5000 / 2 + 100 tokens";
}

TEST(FitBatch, SaysWhatOneSentenceTakesWhenThatIsTooMuch) {
  Machine machine{kMiB, 1000};
  const FittedBatch fitted = fit_batch(machine.measure(), {2, 100}, 5000, kMiB);
  EXPECT_EQ(fitted.batch_tokens, 0);
  EXPECT_EQ(fitted.pass_bytes, kMiB + 100'000);
  EXPECT_EQ(machine.passes, 2);
}

TEST(FitBatch, ComesBackWhenPassesGrowFasterThanALine) {
  const auto quadratic = [](int64_t tokens) { return static_cast<uint64_t>(tokens * tokens); };
  const FittedBatch fitted = fit_batch(quadratic, {1, 10}, 1'000'000, 90'000);
  EXPECT_LE(fitted.pass_bytes, 90'000U);
  EXPECT_GE(fitted.batch_tokens, 270) << "300 would fill the room";
}

TEST(LongestBatch, HasAsManyTokensOnBothSidesInTheLongestSentences) {
  const data::Batch batch = longest_batch(70, 32, 5, 1000);
  EXPECT_EQ(batch.source_offsets, (std::vector<int32_t>{0, 32, 64, 70}));
  EXPECT_EQ(batch.target_offsets, batch.source_offsets);
  EXPECT_EQ(*std::ranges::max_element(batch.source), 4);
  EXPECT_LT(*std::ranges::max_element(batch.target_output), 1000);
}

}  // namespace
}  // namespace dragoman::training
