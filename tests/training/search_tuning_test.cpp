#include "training/search_tuning.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace dragoman::training {
namespace {

TEST(SearchTuning, TheBestIsTheFirstOfTheHighest) {
  std::vector<TunedSearch> results(4);
  const std::vector<std::pair<double, double>> scores = {{30, 50}, {32, 49}, {32, 51}, {31, 50}};
  for (size_t index = 0; index < results.size(); ++index) {
    results[index].search.beam_size = static_cast<int>(index) + 1;
    results[index].bleu = scores[index].first;
    results[index].chrf = scores[index].second;
  }
  EXPECT_EQ(best_search(results, ValidationMetric::kBleu).search.beam_size, 2);
  EXPECT_EQ(best_search(results, ValidationMetric::kChrf).search.beam_size, 3);
}

TEST(SearchTuning, WhatCannotBeTriedIsRefused) {
  const auto message = [](const auto& change) {
    SearchTuning tuning;
    change(tuning);
    try {
      tuning.check();
    } catch (const base::Error& error) {
      EXPECT_EQ(error.exit_status(), 2);
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_EQ(message([](SearchTuning&) {}), "no error");
  EXPECT_EQ(message([](SearchTuning& t) { t.beam_sizes.clear(); }), "tune: name at least one beam size and one alpha");
  EXPECT_EQ(message([](SearchTuning& t) { t.beam_sizes = {4, 200}; }), "beam_size is 200, must be 1 to 128");
  EXPECT_EQ(message([](SearchTuning& t) { t.alphas = {0.5, 9}; }), "alpha is 9, must be 0 to 5");
  EXPECT_THAT(message([](SearchTuning& t) { t.metric = ValidationMetric::kLoss; }), testing::HasSubstr("loss"));
}

}  // namespace
}  // namespace dragoman::training
