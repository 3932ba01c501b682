#include "study/compare.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "evaluation/bleu.h"

namespace dragoman::study {
namespace {

TEST(StudyCompare, SpreadIsMeanAndSampleDeviation) {
  const Spread spread = spread_of(std::vector<double>{1.0, 2.0, 4.0});
  EXPECT_DOUBLE_EQ(spread.mean, 7.0 / 3.0);
  EXPECT_NEAR(spread.deviation, 1.5275252316519468, 1e-12);
  EXPECT_TRUE(std::isnan(spread_of(std::vector<double>{1.0}).deviation));
  EXPECT_TRUE(std::isnan(spread_of({}).mean));
}

struct Texts {
  std::vector<std::string> reference, good, bad;
};

// Every fourth word of the bad text is wrong, every tenth of the good one.
Texts texts() {
  Texts all;
  for (int i = 0; i < 60; ++i) {
    std::string reference, good, bad;
    for (int k = 0; k < 10; ++k) {
      const std::string word = "w" + std::to_string((i * 7 + k * 3) % 50) + " ";
      reference += word;
      good += k == i % 10 ? "x " : word;
      bad += (k + i) % 4 == 0 ? "y " : word;
    }
    all.reference.push_back(reference);
    all.good.push_back(good);
    all.bad.push_back(bad);
  }
  return all;
}

SeedScores scores_of(const evaluation::Metric& metric, const std::vector<std::string>& text,
                     const std::vector<std::string>& reference, size_t seeds) {
  SeedScores scores;
  const evaluation::Lines references[] = {reference};
  for (size_t seed = 0; seed < seeds; ++seed) {
    scores.counts.push_back(metric.count(text, references));
    scores.scores.push_back(metric.score(scores.counts.back().sums()) + 0.01 * static_cast<double>(seed));
  }
  return scores;
}

// As a study does.
std::vector<Comparison> compared(const evaluation::Metric* metric, const std::vector<SeedScores>& rows,
                                 bool higher_is_better) {
  std::vector<Spread> spreads;
  for (const SeedScores& row : rows) {
    spreads.push_back(spread_of(row.scores));
  }
  std::vector<Comparison> comparisons;
  for (size_t i = 1; i < rows.size(); ++i) {
    comparisons.push_back(compare(metric, rows[0], rows[i], seed_variance(spreads), rows.size() - 1));
  }
  adjust(comparisons, higher_is_better);
  return comparisons;
}

TEST(StudyCompare, ClearDifferencesAreDecidedAndEqualTextsAreNot) {
  const Texts all = texts();
  const evaluation::Bleu bleu({});
  for (const size_t seeds : {size_t{1}, size_t{3}}) {
    const SeedScores bad = scores_of(bleu, all.bad, all.reference, seeds);
    const SeedScores good = scores_of(bleu, all.good, all.reference, seeds);
    const auto rows = compared(&bleu, {bad, good, bad}, true);
    EXPECT_GT(rows[0].difference, 10.0);
    EXPECT_EQ(rows[0].verdict, Verdict::kBetter) << seeds;
    EXPECT_EQ(rows[1].verdict, Verdict::kUndecided) << seeds;
    EXPECT_EQ(*rows[1].p_value, 1.0);
    EXPECT_EQ(compared(&bleu, {good, bad}, true)[0].verdict, Verdict::kWorse) << seeds;
  }
}

TEST(StudyCompare, ADifferenceWithinTheSpreadOfSeedsIsUndecided) {
  const Texts all = texts();
  const evaluation::Bleu bleu({});
  SeedScores bad = scores_of(bleu, all.bad, all.reference, 2), good = scores_of(bleu, all.good, all.reference, 2);
  EXPECT_EQ(compared(&bleu, {bad, good}, true)[0].verdict, Verdict::kBetter);
  good.scores = {bad.scores[0] - 20.0, bad.scores[0] + 40.0};
  EXPECT_EQ(compared(&bleu, {bad, good}, true)[0].verdict, Verdict::kUndecided);
}

TEST(StudyCompare, ALossIsDecidedByTheSeedsAlone) {
  EXPECT_EQ(compared(nullptr, {{{2.0, 2.1, 2.2}, {}}, {{1.0, 1.1, 1.2}, {}}}, false)[0].verdict, Verdict::kBetter);
  EXPECT_EQ(compared(nullptr, {{{2.0, 2.1, 2.2}, {}}, {{2.05, 2.15, 2.25}, {}}}, false)[0].verdict,
            Verdict::kUndecided);
  const Comparison one = compared(nullptr, {{{2.0}, {}}, {{1.0}, {}}}, false)[0];
  EXPECT_EQ(one.verdict, Verdict::kUndecided);
  EXPECT_FALSE(one.p_value.has_value());
}

// Of rows that differ by chance alone, one report in twenty may decide something.
TEST(StudyCompare, RowsThatAreEqualAreSeldomDecided) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  const auto share_decided = [&](size_t rows, size_t seeds, double last_deviation) {
    constexpr int kReports = 1000;
    int decided = 0;
    for (int report = 0; report < kReports; ++report) {
      std::vector<SeedScores> scores(rows);
      for (size_t row = 0; row < rows; ++row) {
        for (size_t seed = 0; seed < seeds; ++seed) {
          scores[row].scores.push_back(normal(random) * (row + 1 == rows ? last_deviation : 1.0));
        }
      }
      const auto comparisons = compared(nullptr, scores, true);
      decided += std::ranges::any_of(
          comparisons, [](const Comparison& comparison) { return comparison.verdict != Verdict::kUndecided; });
    }
    return decided / double{kReports};
  };
  EXPECT_LE(share_decided(11, 3, 1.0), 0.06);
  EXPECT_LE(share_decided(2, 3, 1.0), 0.06);
  EXPECT_LE(share_decided(2, 2, 1.0), 0.06);
  EXPECT_LE(share_decided(11, 3, 3.0), 0.10);  // a row that varies more
}

// Sentences of a corpus that two equal systems translate with other mistakes.
TEST(StudyCompare, OneSeedOfEqualSystemsIsDecidedOnceInTwentyTimes) {
  std::mt19937_64 random(2);
  const evaluation::Bleu bleu({});
  constexpr int kPairs = 300;
  int decided = 0;
  for (int pair = 0; pair < kPairs; ++pair) {
    std::vector<std::string> reference, first, second;
    for (int i = 0; i < 40; ++i) {
      std::string words[3];
      for (int k = 0; k < 12; ++k) {
        const std::string word = "w" + std::to_string(random() % 1000) + " ";
        words[0] += word;
        words[1] += random() % 5 == 0 ? "x " : word;
        words[2] += random() % 5 == 0 ? "x " : word;
      }
      reference.push_back(words[0]);
      first.push_back(words[1]);
      second.push_back(words[2]);
    }
    const auto rows =
        compared(&bleu, {scores_of(bleu, first, reference, 1), scores_of(bleu, second, reference, 1)}, true);
    decided += rows[0].verdict != Verdict::kUndecided;
  }
  EXPECT_LE(decided / double{kPairs}, 0.08);
  EXPECT_GE(decided / double{kPairs}, 0.02);
}

// Quantiles of a table of Student's t.
TEST(StudyCompare, StudentsTIsThatOfTables) {
  EXPECT_NEAR(student_p(12.706, 1.0), 0.05, 1e-5);
  EXPECT_NEAR(student_p(-2.776, 4.0), 0.05, 1e-4);
  EXPECT_NEAR(student_p(2.042, 30.0), 0.05, 1e-4);
  EXPECT_NEAR(student_p(1.960, 1e6), 0.05, 1e-4);
  EXPECT_NEAR(student_p(31.599, 2.0), 0.001, 1e-6);
  EXPECT_EQ(student_p(0.0, 3.0), 1.0);
}

// Two standard errors with two seeds are chance once in five times; other rows say how much seeds vary.
TEST(StudyCompare, FewSeedsDecideLessThanManyRows) {
  const SeedScores before{{2.00, 2.10}, {}}, after{{1.83, 1.93}, {}};
  const Comparison alone = compared(nullptr, {before, after}, false)[0];
  EXPECT_GT(std::abs(alone.difference), 2.0 * alone.standard_error);
  EXPECT_EQ(alone.verdict, Verdict::kUndecided);
  std::vector<SeedScores> rows(12, before);
  rows.push_back({{1.70, 1.80}, {}});
  EXPECT_EQ(compared(nullptr, rows, false).back().verdict, Verdict::kBetter);
}

TEST(StudyCompare, ARowOfOneSeedIsJudgedByTheSpreadOfTheOthers) {
  const SeedScores wide{{2.0, 2.5, 3.0}, {}}, narrow{{2.49, 2.50, 2.51}, {}};
  EXPECT_EQ(compared(nullptr, {wide, wide, {{2.0}, {}}}, false).back().verdict, Verdict::kUndecided);
  EXPECT_EQ(compared(nullptr, {narrow, narrow, {{2.0}, {}}}, false).back().verdict, Verdict::kBetter);
}

TEST(StudyCompare, PValuesAreAdjustedAsHolmDoes) {
  Comparison rows[3];
  rows[0].p_value = 0.03;
  rows[1].p_value = 0.01;
  rows[2].p_value = 0.04;
  adjust(rows, true);
  EXPECT_DOUBLE_EQ(*rows[1].p_adjusted, 0.03);
  EXPECT_DOUBLE_EQ(*rows[0].p_adjusted, 0.06);
  EXPECT_DOUBLE_EQ(*rows[2].p_adjusted, 0.06);  // never below a smaller one's
}

TEST(StudyCompare, AgreementNeedsAVerdict) {
  Comparison better, undecided;
  better.verdict = Verdict::kBetter;
  EXPECT_EQ(agreement_with(0.4, better), Agreement::kAgrees);
  EXPECT_EQ(agreement_with(-0.4, better), Agreement::kOpposite);
  EXPECT_EQ(agreement_with(0.0, better), Agreement::kUndecided);
  EXPECT_EQ(agreement_with(0.4, undecided), Agreement::kUndecided);
}

}  // namespace
}  // namespace dragoman::study
