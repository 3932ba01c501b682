#include "evaluation/significance.h"

#include <gtest/gtest.h>

#include <array>
#include <numeric>

#include "base/error.h"
#include "evaluation/bleu.h"
#include "evaluation/chrf.h"
#include "evaluation/numpy_random.h"

namespace dragoman::evaluation {
namespace {

using Strings = std::vector<std::string>;

TEST(NumpyRandom, DrawsAreUniform) {
  NumpyRandom random(7);
  constexpr uint32_t kBound = 10;
  constexpr int kDraws = 100000;
  std::array<int, kBound> counts{};
  for (int i = 0; i < kDraws; ++i) {
    ++counts.at(random.below(kBound));
  }
  double chi_square = 0.0;
  for (const int count : counts) {
    const double excess = count - kDraws / static_cast<double>(kBound);
    chi_square += excess * excess / (kDraws / static_cast<double>(kBound));
  }
  EXPECT_LT(chi_square, 27.9) << "9 degrees of freedom, level 0.001";
}

Strings reference_lines() {
  Strings lines;
  for (int i = 0; i < 30; ++i) {
    lines.push_back("line " + std::to_string(i) + " says that the animal was number " + std::to_string(i * 7) + ".");
  }
  return lines;
}

Strings every_third_line_damaged() {
  Strings lines = reference_lines();
  for (size_t i = 0; i < lines.size(); i += 3) {
    lines[i] = "a plain line";
  }
  return lines;
}

TEST(Resampling, OfEqualLinesAlwaysGivesTheSameScore) {
  const Strings hypothesis(20, "the animal was very tired");
  const Strings reference(20, "the animal was too tired");
  const Bleu bleu({});
  const std::vector<Lines> references = {reference};
  const CountTable counts = bleu.count(hypothesis, references);
  const Counted candidate{.metric = &bleu, .counts = &counts};
  const auto scores = resample_scores({&candidate, 1}, {.resamples = 10});
  const Interval interval = confidence_interval(bleu, scores[0]);
  EXPECT_NEAR(interval.mean, bleu.score(counts.sums()), 1e-5);
  EXPECT_EQ(interval.half_width, 0.0);
}

TEST(Resampling, ASeedDecidesTheScores) {
  const Chrf chrf({});
  const Strings hypothesis = every_third_line_damaged();
  const Strings reference = reference_lines();
  const std::vector<Lines> references = {reference};
  const CountTable counts = chrf.count(hypothesis, references);
  const Counted candidate{.metric = &chrf, .counts = &counts};
  const auto first = resample_scores({&candidate, 1}, {.resamples = 20, .seed = 1});
  EXPECT_EQ(first, resample_scores({&candidate, 1}, {.resamples = 20, .seed = 1}));
  EXPECT_NE(first, resample_scores({&candidate, 1}, {.resamples = 20, .seed = 2}));
}

TEST(Resampling, CandidatesSeeTheSameDraws) {
  const Bleu bleu({});
  const Strings hypothesis = every_third_line_damaged();
  const Strings reference = reference_lines();
  const std::vector<Lines> references = {reference};
  const CountTable counts = bleu.count(hypothesis, references);
  const std::vector<Counted> twice(2, {.metric = &bleu, .counts = &counts});
  const auto scores = resample_scores(twice, {.resamples = 20});
  EXPECT_EQ(scores[0], scores[1]);
}

TEST(Resampling, RefusesWhatItCannotDraw) {
  const Bleu bleu({});
  const CountTable ten(10, 10);
  const CountTable nine(9, 10);
  const std::vector<Counted> unequal = {{.metric = &bleu, .counts = &ten}, {.metric = &bleu, .counts = &nine}};
  EXPECT_THROW(resample_scores(unequal, {.resamples = 20}), base::Error);
  EXPECT_THROW(resample_scores({unequal.data(), 1}, {.resamples = 1}), base::Error);
}

TEST(PairedTest, CountsDifferencesBeyondTheRealOne) {
  const Bleu bleu({});
  // Differences 0, 1, 2, 9: their mean is 3; less the mean, one of four exceeds 2.
  const std::vector<double> baseline = {10, 10, 10, 10};
  const std::vector<double> system = {10, 11, 8, 19};
  EXPECT_DOUBLE_EQ(paired_p_value(bleu, baseline, system, 2.0), 2.0 / 5.0);
  EXPECT_DOUBLE_EQ(paired_p_value(bleu, baseline, system, 6.0), 1.0 / 5.0) << "equal is not beyond";
  EXPECT_THROW(paired_p_value(bleu, baseline, {1.0}, 2.0), base::Error);
}

TEST(Interval, IsHalfTheMiddleNinetyFivePercent) {
  const Bleu bleu({});
  std::vector<double> scores(1000);
  std::iota(scores.rbegin(), scores.rend(), 0.0);
  const Interval interval = confidence_interval(bleu, scores);
  EXPECT_DOUBLE_EQ(interval.mean, 499.5);
  EXPECT_DOUBLE_EQ(interval.half_width, 0.5 * (974.0 - 25.0));
}

}  // namespace
}  // namespace dragoman::evaluation
