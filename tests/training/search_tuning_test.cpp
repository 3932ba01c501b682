#include "training/search_tuning.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "evaluation/evaluate.h"

namespace dragoman::training {
namespace {

// 200 lines of which no two are alike.
std::vector<std::string> reference_lines() {
  std::vector<std::string> lines;
  for (int i = 0; i < 200; ++i) {
    lines.push_back(fmt::format("{0} men of town {1} saw {2} dogs run by", i, i * 7 % 200, i * 13 % 200));
  }
  return lines;
}

// A search whose translations of the first lines are wrong.
TunedSearch search_with_errors(int beam_size, int errors) {
  TunedSearch result;
  result.search.beam_size = beam_size;
  result.texts = reference_lines();
  for (int i = 0; i < errors; ++i) {
    result.texts[static_cast<size_t>(i)] = "one man of some town saw a dog";
  }
  result.bleu = evaluation::corpus_bleu(result.texts, {reference_lines()}).score;
  result.chrf = evaluation::corpus_chrf(result.texts, {reference_lines()}).score;
  return result;
}

int beam_taken(const std::vector<TunedSearch>& results, const SearchTuning& tuning = {}) {
  return choose_search(results, reference_lines(), tuning).taken->search.beam_size;
}

TEST(SearchTuning, TheBestIsTakenWhereItIsBetterBeyondChance) {
  const std::vector<TunedSearch> results = {search_with_errors(4, 40), search_with_errors(1, 60),
                                            search_with_errors(6, 10), search_with_errors(8, 10)};
  EXPECT_EQ(beam_taken(results), 6) << "of equals the first";
  SearchTuning by_chrf;
  by_chrf.metric = ValidationMetric::kChrf;
  EXPECT_EQ(beam_taken(results, by_chrf), 6);
  EXPECT_LT(choose_search(results, reference_lines(), {}).p_value, 0.01);
}

TEST(SearchTuning, TheUsualSearchStaysWhereTheBestMayBeLuck) {
  const std::vector<TunedSearch> results = {search_with_errors(4, 11), search_with_errors(6, 10)};
  const SearchChoice choice = choose_search(results, reference_lines(), {});
  EXPECT_EQ(choice.best->search.beam_size, 6);
  EXPECT_EQ(choice.usual->search.beam_size, 4);
  EXPECT_GT(choice.p_value, 0.05);
  EXPECT_EQ(choice.taken, choice.usual);
  SearchTuning in_any_case;
  in_any_case.significance = 1.0;
  EXPECT_EQ(beam_taken(results, in_any_case), 6);
}

TEST(SearchTuning, AUsualSearchThatNothingBeatsStays) {
  const std::vector<TunedSearch> results = {search_with_errors(4, 10), search_with_errors(6, 10)};
  const SearchChoice choice = choose_search(results, reference_lines(), {});
  EXPECT_EQ(choice.best, choice.usual);
  EXPECT_EQ(choice.taken, choice.usual);
  EXPECT_EQ(choice.p_value, 1.0);
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
  EXPECT_EQ(message([](SearchTuning& t) { t.alphas = {0.5, 9}; }), "alpha is 9, must be -5 to 5");
  EXPECT_THAT(message([](SearchTuning& t) { t.metric = ValidationMetric::kLoss; }), testing::HasSubstr("loss"));
  EXPECT_EQ(message([](SearchTuning& t) { t.significance = 2; }), "tune: significance is 2, must be 0 to 1");
}

}  // namespace
}  // namespace dragoman::training
