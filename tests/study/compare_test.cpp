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
    comparisons.push_back(compare(metric, rows[0], rows[i], seed_variance(spreads)));
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
  const auto share_decided = [&](size_t rows, size_t seeds, double deviation_of_baseline) {
    constexpr int kReports = 1000;
    int decided = 0;
    for (int report = 0; report < kReports; ++report) {
      std::vector<SeedScores> scores(rows);
      for (size_t row = 0; row < rows; ++row) {
        for (size_t seed = 0; seed < seeds; ++seed) {
          scores[row].scores.push_back(normal(random) * (row == 0 ? deviation_of_baseline : 1.0));
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
  EXPECT_LE(share_decided(11, 3, 3.0), 0.13);  // a baseline that varies more; by the spread of all alone it is 0.23
}

// Systems that are equally good on all text, but one is better on some sentences and the other on others, as far as
// `by_sentence` goes; with seeds of them that make other mistakes.
double share_decided_of_equal_systems(size_t seeds, double by_sentence, int pairs, bool sees_sentences = true) {
  std::mt19937_64 random(2);
  const auto draw = [&] { return static_cast<double>(random() % 1'000'000) / 1e6; };
  const evaluation::Bleu bleu({});
  int decided = 0;
  for (int pair = 0; pair < pairs; ++pair) {
    constexpr size_t kSentences = 40, kWords = 12;
    std::vector<double> share_wrong[2];
    std::vector<std::string> reference;
    for (size_t i = 0; i < kSentences; ++i) {
      share_wrong[0].push_back(0.2 + by_sentence * (draw() - 0.5));
      share_wrong[1].push_back(0.2 + by_sentence * (draw() - 0.5));
      reference.emplace_back();
      for (size_t k = 0; k < kWords; ++k) {
        reference.back() += "w" + std::to_string(random() % 1000) + " ";
      }
    }
    std::vector<SeedScores> systems(2);
    for (size_t system = 0; system < 2; ++system) {
      for (size_t seed = 0; seed < seeds; ++seed) {
        std::vector<std::string> text;
        for (size_t i = 0; i < kSentences; ++i) {
          text.emplace_back();
          for (size_t begin = 0; begin < reference[i].size();) {
            const size_t end = reference[i].find(' ', begin) + 1;
            text.back() += draw() < share_wrong[system][i] ? "x " : reference[i].substr(begin, end - begin);
            begin = end;
          }
        }
        const SeedScores one = scores_of(bleu, text, reference, 1);
        systems[system].scores.push_back(one.scores[0]);
        systems[system].counts.push_back(one.counts[0]);
      }
    }
    decided += compared(sees_sentences ? &bleu : nullptr, systems, true)[0].verdict != Verdict::kUndecided;
  }
  return decided / static_cast<double>(pairs);
}

TEST(StudyCompare, EqualSystemsAreDecidedOnceInTwentyTimes) {
  const double one_seed = share_decided_of_equal_systems(1, 0.0, 400);
  EXPECT_LE(one_seed, 0.08);
  EXPECT_GE(one_seed, 0.02);
  EXPECT_LE(share_decided_of_equal_systems(3, 0.4, 200), 0.08);
  EXPECT_GE(share_decided_of_equal_systems(3, 0.4, 200, false), 0.15) << "by seeds alone";
}

TEST(StudyCompare, AFewSentencesDecideNothingHoweverManySeeds) {
  const Texts all = texts();
  const evaluation::Bleu bleu({});
  const auto first = [](const std::vector<std::string>& text, size_t lines) {
    return std::vector<std::string>(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(lines));
  };
  for (const auto& [lines, verdict] : {std::pair(size_t{1}, Verdict::kUndecided), {size_t{60}, Verdict::kBetter}}) {
    const auto reference = first(all.reference, lines);
    const auto rows = compared(
        &bleu,
        {scores_of(bleu, first(all.bad, lines), reference, 1), scores_of(bleu, first(all.good, lines), reference, 1)},
        true);
    EXPECT_EQ(rows[0].verdict, verdict) << lines;
    EXPECT_EQ(rows[0].p_value.has_value(), lines > 1);
  }
  // The same two sentences' difference with each seed: seeds do not vary, sentences do.
  const auto reference = first(all.reference, 2);
  std::vector<std::string> mixed = {all.reference[0], all.bad[1]};
  const auto rows = compared(
      &bleu, {scores_of(bleu, {all.bad[0], all.reference[1]}, reference, 4), scores_of(bleu, mixed, reference, 3)},
      true);
  EXPECT_EQ(rows[0].verdict, Verdict::kUndecided);
}

TEST(StudyCompare, EachSeedCounts) {
  const Texts all = texts();
  const evaluation::Bleu bleu({});
  const SeedScores bad = scores_of(bleu, all.bad, all.reference, 1), good = scores_of(bleu, all.good, all.reference, 1);
  const SeedScores both{{bad.scores[0], good.scores[0]}, {bad.counts[0], good.counts[0]}};
  const SeedScores turned{{good.scores[0], bad.scores[0]}, {good.counts[0], bad.counts[0]}};
  const Comparison same = compare(&bleu, both, turned, {});
  EXPECT_NEAR(same.difference, 0.0, 1e-9);
  EXPECT_NEAR(same.standard_error, 0.0, 1e-6) << "in each resample too";
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
