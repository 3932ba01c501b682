// Scores of labels and tags, against values computed by hand and against the definitions in another form.
#include "evaluation/label_metrics.h"

#include <gtest/gtest.h>

#include <cmath>

#include "evaluation/evaluate.h"
#include "support/expect_error.h"

namespace dragoman::evaluation {
namespace {

using base::ErrorKind;
using test_support::expect_error;

using Strings = std::vector<std::string>;

double score_of(MetricKind kind, const Strings& said, const Strings& right, const std::string& positive = "1") {
  EvaluateOptions options;
  options.metrics = {kind};
  options.positive_label = positive;
  return evaluate({{"said", said}}, {{"right", right}}, options).scores[0].score;
}

const Strings kRight = {"1", "1", "1", "0", "0", "0", "0", "1"};
const Strings kSaid = {"1", "0", "1", "0", "1", "0", "0", "1"};  // 3 hits, 1 missed, 1 wrong, 3 right zeros

TEST(LabelScores, OfTwoLabelsAreThoseOfTheConfusionMatrix) {
  EXPECT_DOUBLE_EQ(score_of(MetricKind::kAccuracy, kSaid, kRight), 75.0);
  EXPECT_DOUBLE_EQ(score_of(MetricKind::kF1, kSaid, kRight), 100.0 * 6 / 8);
  EXPECT_DOUBLE_EQ(score_of(MetricKind::kF1, kSaid, kRight, "0"), 100.0 * 6 / 8);
  EXPECT_DOUBLE_EQ(score_of(MetricKind::kMacroF1, kSaid, kRight), 75.0);
  EXPECT_DOUBLE_EQ(score_of(MetricKind::kMcc, kSaid, kRight), 100.0 * (3 * 3 - 1 * 1) / std::sqrt(4.0 * 4 * 4 * 4));
}

// Two systems are counted with one list of labels; what one of them made up is no label of the other.
TEST(LabelScores, DoNotDependOnOtherSystems) {
  Strings odd = kSaid;
  odd[0] = "unheard-of";
  const Lines all[] = {kSaid, odd, kRight};
  const Lines references[] = {kRight};
  for (const MetricKind kind : {MetricKind::kMacroF1, MetricKind::kMcc}) {
    const auto metric = make_metric(kind, {}, all);
    EXPECT_DOUBLE_EQ(metric->score(metric->count(kSaid, references).sums()), score_of(kind, kSaid, kRight));
    EXPECT_DOUBLE_EQ(metric->score(metric->count(odd, references).sums()), score_of(kind, odd, kRight));
  }
}

TEST(LabelScores, OfThreeLabels) {
  const Strings right = {"a", "a", "b", "b", "c", "c"}, said = {"a", "b", "b", "b", "c", "a"};
  EXPECT_DOUBLE_EQ(score_of(MetricKind::kAccuracy, said, right), 100.0 * 4 / 6);
  // F1: a 2/4, b 4/5, c 2/3.
  EXPECT_NEAR(score_of(MetricKind::kMacroF1, said, right), 100.0 * (0.5 + 0.8 + 2.0 / 3) / 3, 1e-12);
  // c = 4, s = 6, sum p t = 2*2 + 3*2 + 1*2 = 12, sum p^2 = 14, sum t^2 = 12.
  EXPECT_NEAR(score_of(MetricKind::kMcc, said, right), 100.0 * (24 - 12) / std::sqrt((36.0 - 14) * (36 - 12)), 1e-12);
}

TEST(LabelScores, WithoutABaseAreZero) {
  EXPECT_EQ(score_of(MetricKind::kMcc, {"1", "1"}, {"1", "0"}), 0.0) << "always the same label";
  EXPECT_EQ(score_of(MetricKind::kMcc, {"1", "1"}, {"1", "1"}), 0.0);
  EXPECT_EQ(score_of(MetricKind::kF1, {"0", "1"}, {"0", "0"}), 0.0);
}

TEST(LabelScores, TheFirstColumnOfALineIsTheLabel) {
  EXPECT_DOUBLE_EQ(score_of(MetricKind::kAccuracy, {"1\t0.98", "0\t0.5"}, {"1\ta text", "1\tanother"}), 50.0);
}

TEST(LabelScores, IntervalsHoldTheScoreAndShrinkWithTheText) {
  EvaluateOptions options;
  options.metrics = {MetricKind::kAccuracy, MetricKind::kMcc};
  options.confidence = true;
  double before = 100.0;
  for (const size_t lines : {50U, 5000U}) {
    Strings right, said;
    for (size_t line = 0; line < lines; ++line) {
      right.push_back(line % 2 == 0 ? "0" : "1");
      said.push_back(line % 10 == 0 ? "1" : right.back());
    }
    const Report report = evaluate({{"said", said}}, {{"right", right}}, options);
    ASSERT_TRUE(report.scores[0].interval.has_value());
    const Interval interval = *report.scores[0].interval;
    EXPECT_NEAR(interval.mean, 90.0, interval.half_width);
    EXPECT_NEAR(interval.half_width, 196.0 * std::sqrt(0.9 * 0.1 / static_cast<double>(lines)),
                0.2 * interval.half_width)
        << "the normal approximation of the binomial";
    EXPECT_LT(interval.half_width, before);
    before = interval.half_width;
  }
}

TEST(LabelScores, WhatCannotBeComparedIsRefused) {
  EvaluateOptions options;
  options.metrics = parse_metrics("accuracy,bleu");
  expect_error(ErrorKind::kUsage, {"of translations, of labels, of tags"}, [&] {
    evaluate({{"said", kSaid}}, {{"right", kRight}}, options);
  });
  expect_error(ErrorKind::kBadData, {"no line has the label \"7\"", "--positive-label"},
               [&] { score_of(MetricKind::kF1, kSaid, kRight, "7"); });
  expect_error(ErrorKind::kBadData, {"said has 1 lines, right has 2"}, [&] {
    score_of(MetricKind::kAccuracy, {"1"}, {"1", "0"});
  });
  options.metrics = parse_metrics("mcc");
  expect_error(ErrorKind::kUsage, {"one reference", "2 were given"}, [&] {
    evaluate({{"said", kSaid}}, {{"a", kRight}, {"b", kRight}}, options);
  });
}

TEST(Spans, BeginAndEndAsConllevalSays) {
  const auto text = [](const Strings& tags) {
    std::string all;
    for (const Span& span : spans_of(tags)) {
      all += span.type + std::to_string(span.begin) + "-" + std::to_string(span.end) + " ";
    }
    return all;
  };
  EXPECT_EQ(text({"B-NP", "I-NP", "O", "B-VP"}), "NP0-2 VP3-4 ");
  EXPECT_EQ(text({"B-NP", "B-NP", "I-NP"}), "NP0-1 NP1-3 ");
  EXPECT_EQ(text({"I-NP", "I-NP", "I-VP"}), "NP0-2 VP2-3 ") << "an I- begins a span that has not begun";
  EXPECT_EQ(text({"B-NP", "I-VP"}), "NP0-1 VP1-2 ") << "another type";
  EXPECT_EQ(text({"O", "I-NP", "O"}), "NP1-2 ");
  EXPECT_EQ(text({"B-X", "E-X", "I-X", "S-X", "S-X", "E-X", "E-X"}), "X0-2 X2-3 X3-4 X4-5 X5-6 X6-7 ");
  EXPECT_EQ(text({"B", "I", "O"}), "0-2 ") << "tags without a type";
}

TEST(Spans, F1CountsWholeSpansAndAccuracyCountsWords) {
  const Strings right = {"B-NP I-NP O B-VP", "B-NP O"}, said = {"B-NP I-NP O B-NP", "B-NP I-NP"};
  // Right 3 spans; said 3; the first alone is the same.
  EXPECT_NEAR(score_of(MetricKind::kSpanF1, said, right), 100.0 / 3, 1e-12);
  EXPECT_NEAR(score_of(MetricKind::kTagAccuracy, said, right), 100.0 * 4 / 6, 1e-12);
}

TEST(Spans, ColumnsAndLinesAreTheSameText) {
  const Strings columns = {"the\tDT\tB-NP", "cat\tNN\tI-NP", "", "", "runs\tVB\tB-VP", ""};
  EXPECT_EQ(tags_of_text({"said", columns}, {"right", {"O O", "O"}}), (Strings{"B-NP I-NP", "B-VP"}));
  EXPECT_DOUBLE_EQ(score_of(MetricKind::kSpanF1, {"B-NP I-NP", "B-VP"}, columns), 100.0);
}

TEST(Spans, BlanksMaySeparateColumnsAsInTheFilesOfConll) {
  const Strings blanks = {"the DT B-NP", "cat NN I-NP", "", "runs VB B-VP", ""};
  const Strings tabs = {"the\tB-NP", "cat\tI-NP", "", "runs\tB-NP", ""};
  EXPECT_DOUBLE_EQ(score_of(MetricKind::kTagAccuracy, tabs, blanks), 100.0 * 2 / 3);
  EXPECT_DOUBLE_EQ(score_of(MetricKind::kTagAccuracy, blanks, tabs), 100.0 * 2 / 3);
  EXPECT_DOUBLE_EQ(score_of(MetricKind::kTagAccuracy, {"B-NP I-NP", "B-NP"}, blanks), 100.0 * 2 / 3);
  EXPECT_DOUBLE_EQ(score_of(MetricKind::kTagAccuracy, {"A B", "", "A B"}, {"A B", "", "A C"}), 100.0 * 3 / 4)
      << "lines that correspond are lines of tags";
}

TEST(Spans, TextsThatDoNotCorrespondAreRefusedWithThePlace) {
  const Strings columns = {"the\tB-NP", "cat\tI-NP", "", "", "runs\tB-VP", "now\tO"};
  expect_error(ErrorKind::kBadData,
               {"said:1: the sentence has 3 tags (\"B-NP I-NP O\"), that of right:1 has 2", "one tag for each word"},
               [&] {
                 score_of(MetricKind::kSpanF1, {"B-NP I-NP O", "B-VP O"}, columns);
               });
  expect_error(ErrorKind::kBadData, {"said:2: the sentence has 1 tags (\"B-VP\"), that of right:5 has 2"}, [&] {
    score_of(MetricKind::kSpanF1, {"B-NP I-NP", "B-VP"}, columns);
  });
  expect_error(ErrorKind::kBadData, {"said has 1 sentences, right has 2", "an empty line behind each sentence"},
               [&] { score_of(MetricKind::kSpanF1, {"B-NP I-NP"}, columns); });
}

TEST(LabelScores, AByteOrderMarkIsNoPartOfALabelATagOrANumber) {
  const std::string mark = "\xEF\xBB\xBF";
  EXPECT_EQ(score_of(MetricKind::kAccuracy, {"a", "b"}, {mark + "a\ttext", "b\ttext"}), 100.0);
  EXPECT_EQ(score_of(MetricKind::kTagAccuracy, {mark + "O O"}, {"O O"}), 100.0);
  EXPECT_NEAR(score_of(MetricKind::kSpearman, {"1", "2", "3"}, {mark + "5", "6", "7"}), 100.0, 1e-9);
}

}  // namespace
}  // namespace dragoman::evaluation
