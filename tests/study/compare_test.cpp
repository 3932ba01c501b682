#include "study/compare.h"

#include <gtest/gtest.h>

#include <cmath>

#include "evaluation/bleu.h"
#include "evaluation/evaluate.h"

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

TEST(StudyCompare, OneSeedGivesThePValueOfEvaluate) {
  const Texts all = texts();
  const evaluation::Bleu bleu({});
  const Comparison comparison =
      compare(&bleu, scores_of(bleu, all.bad, all.reference, 1), scores_of(bleu, all.good, all.reference, 1));
  evaluation::EvaluateOptions options;
  options.metrics = {evaluation::MetricKind::kBleu};
  const evaluation::Report report =
      evaluation::evaluate({{"bad", all.bad}, {"good", all.good}}, {{"reference", all.reference}}, options);
  EXPECT_EQ(comparison.p_value, report.systems[1].scores[0].p_value);
  EXPECT_GT(comparison.difference, 10.0);
}

TEST(StudyCompare, ClearDifferencesAreDecidedAndEqualTextsAreNot) {
  const Texts all = texts();
  const evaluation::Bleu bleu({});
  for (const size_t seeds : {size_t{1}, size_t{3}}) {
    const SeedScores bad = scores_of(bleu, all.bad, all.reference, seeds);
    const SeedScores good = scores_of(bleu, all.good, all.reference, seeds);
    Comparison rows[] = {compare(&bleu, bad, good), compare(&bleu, bad, bad)};
    adjust(rows, true);
    EXPECT_EQ(rows[0].verdict, Verdict::kBetter) << seeds;
    EXPECT_EQ(rows[1].verdict, Verdict::kUndecided) << seeds;
    Comparison worse[] = {compare(&bleu, good, bad)};
    adjust(worse, true);
    EXPECT_EQ(worse[0].verdict, Verdict::kWorse) << seeds;
  }
}

TEST(StudyCompare, ADifferenceWithinTheSpreadOfSeedsIsUndecided) {
  const Texts all = texts();
  const evaluation::Bleu bleu({});
  SeedScores bad = scores_of(bleu, all.bad, all.reference, 2), good = scores_of(bleu, all.good, all.reference, 2);
  good.scores = {bad.scores[0] - 20.0, bad.scores[0] + 22.0};
  Comparison rows[] = {compare(&bleu, bad, good)};
  adjust(rows, true);
  EXPECT_LE(*rows[0].p_adjusted, 0.05);
  EXPECT_EQ(rows[0].verdict, Verdict::kUndecided);
}

TEST(StudyCompare, ALossIsDecidedByTheSeedsAlone) {
  Comparison rows[] = {compare(nullptr, {{2.0, 2.1, 2.2}, {}}, {{1.0, 1.1, 1.2}, {}}),
                       compare(nullptr, {{2.0, 2.1, 2.2}, {}}, {{2.05, 2.15, 2.25}, {}}),
                       compare(nullptr, {{2.0}, {}}, {{1.0}, {}})};
  adjust(rows, false);
  EXPECT_EQ(rows[0].verdict, Verdict::kBetter);
  EXPECT_EQ(rows[1].verdict, Verdict::kUndecided);
  EXPECT_EQ(rows[2].verdict, Verdict::kUndecided);
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

// Two standard errors with two seeds are chance once in five times.
TEST(StudyCompare, FewSeedsDecideLess) {
  Comparison rows[] = {compare(nullptr, {{2.00, 2.10}, {}}, {{1.83, 1.93}, {}})};
  adjust(rows, false);
  EXPECT_GT(std::abs(rows[0].difference), 2.0 * rows[0].standard_error);
  EXPECT_EQ(rows[0].verdict, Verdict::kUndecided);
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
