#include "training/memory_plan.h"

#include <gtest/gtest.h>

#include "decoding/search/options.h"
#include "support/expect_error.h"
#include "training/presets.h"

namespace dragoman::training {
namespace {

using base::ErrorKind;
using test_support::expect_error;

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr int64_t kElements = int64_t{1} << 20;  // weights of 4 MiB

MemoryBudget budget(uint64_t mib) {
  RunOptions run;
  run.memory = mib * kMiB;
  return memory_budget(run, 1);
}

TrainOptions options_for(int64_t batch_tokens, bool fit) {
  TrainOptions options = preset_options("tiny");
  options.run.workers = 2;
  options.run.average = 0;
  options.batch.batch_tokens = batch_tokens;
  options.batch.fit = fit;
  options.batch.max_length = 100;
  return options;
}

// 1 MiB and 10 KiB a token.
uint64_t pass(int64_t tokens) {
  return kMiB + 10'240 * static_cast<uint64_t>(tokens);
}

MemoryPlan planned(TrainOptions& options, uint64_t mib) {
  MemoryPlan plan = plan_tensors(options, budget(mib), kElements);
  plan.other = 10 * kMiB;
  plan_batch(options, plan, {options.run.workers, pass});
  return plan;
}

TEST(MemoryBudget, IsWhatWasAskedOrAShareOfWhatIsFree) {
  EXPECT_EQ(budget(100).bytes, 100 * kMiB);
  const MemoryBudget one = memory_budget({}, 1), four = memory_budget({}, 4);
  EXPECT_FALSE(one.asked);
  EXPECT_NEAR(static_cast<double>(one.bytes), 4.0 * static_cast<double>(four.bytes),
              0.1 * static_cast<double>(one.bytes));
}

TEST(MemoryPlan, NamesEveryTensor) {
  TrainOptions options = options_for(1000, false);
  const MemoryPlan plan = planned(options, 1000);
  EXPECT_EQ(plan.weights, 4 * kMiB);
  EXPECT_EQ(plan.optimizer, 8 * kMiB);
  EXPECT_EQ(plan.gradients, 8 * kMiB) << "of two workers";
  EXPECT_EQ(plan.activations, 2U * 600 * 10'240) << "1000 / 2 + 100 tokens a worker";
  EXPECT_EQ(plan.packed, 8 * kMiB) << "for the forward and for the backward";
  EXPECT_EQ(plan.scratch, 2 * kMiB);
  EXPECT_EQ(plan.peak(), 40 * kMiB + plan.activations);
  options.run.ema_decay = 0.9;
  EXPECT_EQ(planned(options, 1000).optimizer, 12 * kMiB) << "with the moving average";
  options.precision = kernels::Precision::kBFloat16;
  EXPECT_EQ(planned(options, 1000).packed, 4 * kMiB);
}

TEST(MemoryPlan, CountsTheMatricesOfMuonOnceAWorker) {
  const TrainOptions options = options_for(1000, false);
  const MemoryPlan plain = plan_tensors(options, budget(1000), kElements);
  const MemoryPlan muon = plan_tensors(options, budget(1000), kElements, kElements / 4);
  EXPECT_EQ(muon.matrices, 2 * kMiB) << "of two workers";
  EXPECT_EQ(muon.standing(), plain.standing() + 2 * kMiB);
  EXPECT_EQ(muon.parts().size(), plain.parts().size() + 1);
}

TEST(MemoryPlan, AModelAboveTheBudgetIsRefusedBeforeItIsAllocated) {
  const TrainOptions options = options_for(1000, false);
  expect_error(ErrorKind::kUsage, {"--memory 27.0 MiB", "28.0 MiB (weights 4.00 MiB", "give more memory"},
               [&] { plan_tensors(options, budget(27), kElements); });
}

TEST(MemoryPlan, ABudgetBelowOneSentenceIsRefused) {
  for (const bool fit : {false, true}) {
    TrainOptions options = options_for(1000, fit);
    expect_error(ErrorKind::kUsage, {"--memory 40.0 MiB", "one sentence of --max-length 100", "42.0 MiB are needed"},
                 [&] { planned(options, 40); });
  }
}

TEST(MemoryPlan, ABatchThatDoesNotFitIsRefusedWithWhatWouldFit) {
  TrainOptions options = options_for(10'000, false);
  // 58 MiB less 38 leave 10 for each worker: 9 MiB of activations, 921 tokens, 100 of them for an uneven split.
  expect_error(ErrorKind::kUsage,
               {"--batch-tokens 10000 needs 140 MiB", "--memory 58.0 MiB", "1642 tokens fit", "auto"},
               [&] { planned(options, 58); });
  EXPECT_EQ(options.batch.batch_tokens, 10'000);
}

TEST(MemoryPlan, AutoKeepsTheTokensOfAnUpdate) {
  for (const uint64_t mib : {48, 58, 78, 108, 138, 208}) {
    TrainOptions options = options_for(10'000, true);
    options.batch.accumulate = 2;
    const MemoryPlan plan = planned(options, mib);
    EXPECT_EQ(plan.batch_tokens, options.batch.batch_tokens);
    EXPECT_LE(plan.peak(), mib * kMiB * 95 / 100) << mib << " MiB";
    const int64_t update = plan.batch_tokens * plan.accumulate;
    EXPECT_GE(update, 20'000) << mib << " MiB";
    EXPECT_LT(update, 20'000 + plan.accumulate) << mib << " MiB";
    EXPECT_EQ(mib == 208, plan.accumulate == 2) << mib << " MiB";
  }
}

TEST(MemoryPlan, TheRankWithTheLeastMemoryDecidesForAll) {
  TrainOptions options = options_for(10'000, true);
  MemoryPlan plan = plan_tensors(options, budget(100'000), kElements);
  plan_batch(options, plan, {options.run.workers, pass, [](int64_t) { return 3000; }});
  EXPECT_EQ(options.batch.batch_tokens, 2500);
  EXPECT_EQ(options.batch.accumulate, 4);
}

TEST(MemoryPlan, MoreMemoryThanThePresetNeedsChangesNothing) {
  TrainOptions options = options_for(10'000, true);
  const MemoryPlan plan = planned(options, 100'000);
  EXPECT_EQ(plan.batch_tokens, 10'000);
  EXPECT_EQ(plan.accumulate, 1);
}

TEST(MemoryPlan, AResumedRunTakesTheBatchOfItsRecipe) {
  TrainOptions first = options_for(10'000, true);
  planned(first, 58);
  ASSERT_GT(first.batch.accumulate, 1);
  TrainOptions again = options_for(10'000, true);
  adopt_fitted_batch(again.batch, recipe_json(first), "model");
  EXPECT_EQ(again.batch.batch_tokens, first.batch.batch_tokens);
  EXPECT_EQ(again.batch.accumulate, first.batch.accumulate);
  EXPECT_EQ(recipe_json(again), recipe_json(first));

  TrainOptions other = options_for(20'000, true);
  expect_error(ErrorKind::kUsage,
               {"model:", fmt::format("batches of {} tokens x {}", first.batch.batch_tokens, first.batch.accumulate),
                "20000 x 1"},
               [&] { adopt_fitted_batch(other.batch, recipe_json(first), "model"); });
}

TEST(MemoryPlan, ValidationSearchesLessAtATimeUnderATightBudget) {
  TrainOptions options = options_for(1000, true);
  options.valid_source = {"valid.en"};
  data::CorpusStatistics corpus;
  corpus.kept = 1000;
  corpus.source_tokens = corpus.target_tokens = 20'000;
  MemoryPlan wide = plan_tensors(options, budget(100'000), kElements), narrow = wide;
  plan_process(options, corpus, wide);
  narrow.budget.bytes = wide.standing() + wide.validation / 2;
  plan_process(options, corpus, narrow);
  EXPECT_EQ(wide.search_tokens, decoding::ExecutionOptions().batch_tokens);
  EXPECT_LT(narrow.search_tokens, decoding::ExecutionOptions().batch_tokens);
  EXPECT_LE(narrow.standing() + narrow.validation, narrow.budget.bytes);
  EXPECT_FALSE(wide.gives_back());
  narrow.activations = narrow.validation;
  EXPECT_TRUE(narrow.gives_back());
}

TEST(MemoryPlan, TheReportNamesThePartsThatThereAre) {
  TrainOptions options = options_for(1000, false);
  const std::string report = planned(options, 1000).report();
  for (const char* part : {"memory: 51.7 MiB planned of 0.98 GiB", "weights 4.00 MiB", "activations 11.7 MiB",
                           "9.77 MiB per 1,000 tokens", "batch: 1000 tokens x 1 an update"}) {
    EXPECT_NE(report.find(part), std::string::npos) << part << " is missing in " << report;
  }
  EXPECT_EQ(report.find("validation"), std::string::npos) << "there is none";
}

}  // namespace
}  // namespace dragoman::training
