// Laws of the scores of vectors and of numbers.
#include "evaluation/vector_scores.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "evaluation/evaluate.h"
#include "support/expect_error.h"

namespace dragoman::evaluation {
namespace {

using base::ErrorKind;
using test_support::expect_error;

EvaluateOptions options_of(MetricKind metric) {
  EvaluateOptions options;
  options.metrics = {metric};
  return options;
}

double score(MetricKind metric, const std::vector<std::string>& left, const std::vector<std::string>& right) {
  return evaluate({{"left", left}}, {{"right", right}}, options_of(metric)).scores.front().score;
}

TEST(Retrieval, RanksAreCountedByFallingCosine) {
  // Of the left texts the first finds its right one first, the second third, the third beside another one.
  const std::vector<std::string> left = {"1\t0", "0\t2", "1\t1"}, right = {"3\t0", "1\t-1", "0\t0.5"};
  EXPECT_NEAR(score(MetricKind::kRecallAt1, left, right), 50.0, 1e-9) << "half of the third counts";
  EXPECT_NEAR(score(MetricKind::kMrr, left, right), 100.0 * (1.0 + 1.0 / 3.0 + 1.0 / 1.5) / 3.0, 1e-9)
      << "two are as near as each other: half of a tie counts";
}

TEST(Retrieval, TheLengthOfVectorsDoesNotCount) {
  VectorRows left{{1, 2, -3, 1, 0.5F, 4}, 2}, right{{2, 1, -1, 1, 1, 5}, 2};
  const auto before = ranks_of_right(left, right);
  for (size_t at = 0; at < 2; ++at) {
    left.values[at] *= 8.0F;
    right.values[4 + at] *= 0.25F;
  }
  const auto after = ranks_of_right(left, right);
  for (size_t text = 0; text < before.size(); ++text) {
    EXPECT_EQ(before[text].before, after[text].before);
    EXPECT_EQ(before[text].ties, after[text].ties);
  }
}

TEST(Retrieval, AModelThatTellsNothingApartGuesses) {
  const std::vector<std::string> same(4, "1\t1"), zeros(4, "0\t0");
  EXPECT_NEAR(score(MetricKind::kRecallAt1, same, same), 25.0, 1e-9);
  EXPECT_NEAR(score(MetricKind::kRecallAt1, zeros, zeros), 25.0, 1e-9);
  EXPECT_NEAR(score(MetricKind::kMrr, same, same), 40.0, 1e-9) << "rank 2.5 of 4";
}

TEST(Retrieval, IntervalsAndComparisonsAreThoseOfLines) {
  std::vector<std::string> left, right;
  for (int text = 0; text < 40; ++text) {
    left.push_back(fmt::format("{}\t1", text));
    right.push_back(fmt::format("{}\t{}", text, text % 4 == 0 ? -1 : 1));
  }
  EvaluateOptions options = options_of(MetricKind::kMrr);
  options.confidence = true;
  const Report report = evaluate({{"left", left}}, {{"right", right}}, options);
  ASSERT_TRUE(report.scores.front().interval.has_value());
  EXPECT_GT(report.scores.front().interval->half_width, 0.0);
}

TEST(Retrieval, FilesThatHoldNoVectorsAreNamed) {
  const std::vector<std::string> good = {"1\t2", "3\t4"};
  const auto refused = [&](const std::vector<std::string>& left, const std::vector<std::string>& parts) {
    expect_error(ErrorKind::kBadData, parts, [&] { score(MetricKind::kMrr, left, good); });
  };
  refused({"1\t2", "3"}, {"left: line 2 has 1 numbers, the lines before have 2"});
  refused({"1\tx", "3\t4"}, {"left: line 1", "\"x\" is no number"});
  refused({"1\t", "3\t4"}, {"left: line 1", "\"\" is no number"});
  refused({"1\tnan", "3\t4"}, {"is no number"});
  refused({"1", "3"}, {"have 1 numbers", "have 2", "one model"});
  refused({"1\t2"}, {"left has 1 lines, right has 2"});
  expect_error(ErrorKind::kUsage, {"one reference"}, [&] {
    evaluate({{"a", good}}, {{"b", good}, {"c", good}}, options_of(MetricKind::kMrr));
  });
}

TEST(Spearman, ARisingFunctionCorrelatesWhollyAndTiesShareTheirRank) {
  EXPECT_NEAR(score(MetricKind::kSpearman, {"1", "2", "3", "4"}, {"0.1", "5", "6", "100"}), 100.0, 1e-9);
  EXPECT_NEAR(score(MetricKind::kSpearman, {"1", "2", "3", "4"}, {"3", "2", "1", "0"}), -100.0, 1e-9);
  EXPECT_EQ(score(MetricKind::kSpearman, {"1", "1", "1"}, {"3", "2", "1"}), 0.0);
  // scipy.stats.spearmanr([1, 2, 2, 4, 5], [2, 1, 3, 3, 9]).statistic
  EXPECT_NEAR(score(MetricKind::kSpearman, {"1", "2", "2", "4", "5"}, {"2", "1", "3", "3", "9"}), 76.3157894737, 1e-6);
}

TEST(Spearman, ReadsTheLastColumn) {
  EXPECT_NEAR(score(MetricKind::kSpearman, {"0.1", "0.7", "0.9"}, {"a\tb\t1", "c\td\t2", "e\tf\t3.5"}), 100.0, 1e-9);
  expect_error(ErrorKind::kBadData, {"right: line 2", "is no number"}, [] {
    score(MetricKind::kSpearman, {"1", "2"}, {"a\t1", "2\tb"});
  });
  EvaluateOptions options = options_of(MetricKind::kSpearman);
  options.sentence_level = true;
  expect_error(ErrorKind::kUsage, {"sentence-level"}, [&] { evaluate({{"a", {"1"}}}, {{"b", {"1"}}}, options); });
}

}  // namespace
}  // namespace dragoman::evaluation
