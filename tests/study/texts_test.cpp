#include "study/texts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/error.h"
#include "study/text_part.h"
#include "support/error_of.h"
#include "support/temporary_folder.h"

namespace dragoman::study {
namespace {

TEST(StudyTexts, FourTimesTheSameInARowIsACircle) {
  EXPECT_TRUE(goes_in_circles("lummmmm"));
  EXPECT_TRUE(goes_in_circles("as if as if as if as if "));
  EXPECT_TRUE(goes_in_circles("xäbäbäbäby"));
  const std::string twenty = "ä1ö2ü3ß4Ä5Ö6Ü7ß8ä9ö0";  // characters count, not bytes
  EXPECT_TRUE(goes_in_circles(twenty + twenty + twenty + twenty));
  EXPECT_FALSE(goes_in_circles(twenty + twenty + twenty));
  EXPECT_FALSE(goes_in_circles(twenty + "x" + twenty + "x" + twenty + "x" + twenty + "x"));  // 21
  EXPECT_FALSE(goes_in_circles("hmmm, as if as if as if"));
  EXPECT_FALSE(goes_in_circles(""));
}

TEST(StudyTexts, TheNearestHypothesisIsTakenOrElseTheKnownLine) {
  const Lines known = {"a man walks a dog", "two dogs", "a red car"};
  const Lines hypotheses = {
      "0 ||| a woman sings ||| log_prob=-1 tokens=4 ||| -0.1",
      "0 ||| a man walks dogs ||| log_prob=-2 tokens=5 ||| -0.2", "1 ||| lummmmm ||| log_prob=-1 tokens=4 ||| -0.1",
      "2 ||| a red car ||| log_prob=-1 tokens=4 ||| -0.1", "2 ||| a red car ||| log_prob=-9 tokens=4 ||| -0.1"};
  EXPECT_EQ(nearest(hypotheses, known), (Lines{"a man walks dogs", "two dogs", "a red car"}));
}

TEST(StudyTexts, WhatIsNoHypothesisIsRefused) {
  EXPECT_THROW(nearest({"no fields"}, {"a"}), base::Error);
  EXPECT_THROW(nearest({"x ||| a ||| b ||| c"}, {"a"}), base::Error);
  EXPECT_THROW(nearest({"1 ||| a ||| b ||| c"}, {"a"}), base::Error);
}

TEST(StudyTexts, ScoresHaveThreeNumbersALine) {
  const test_support::TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "scores.txt";
  write_lines(file, {"-3.5\t-1.75\t2", "-inf\t-inf\t1", "0.000000\t0.000000\t0"});
  const std::vector<decoding::PairScore> scores = read_scores(file);
  ASSERT_EQ(scores.size(), 3U);
  EXPECT_EQ(scores[0].log_prob, -3.5);
  EXPECT_EQ(scores[0].tokens, 2);
  EXPECT_TRUE(std::isinf(scores[1].log_prob));
  for (const char* line : {"", "-3.5", "-3.5\t-1.75", "-3.5\t-1.75\t", "-3.5 -1.75 2", "-3.5\t-1.75\t2\t", "x\t1\t2"}) {
    write_lines(file, {"-3.5\t-1.75\t2", line});
    const std::string message = test_support::error_of([&] { read_scores(file); });
    EXPECT_TRUE(message.ends_with("line 2 is \"" + std::string(line) + "\", must have three numbers")) << message;
  }
}

TEST(StudyTexts, ConsecutiveLinesAreJoined) {
  EXPECT_EQ(consecutive({"a", "b", "c", "d", "e"}, 2), (Lines{"a b", "c d"}));
  EXPECT_EQ(consecutive({"a", "b"}, 1), (Lines{"a", "b"}));
  EXPECT_EQ(consecutive({"a"}, 2), Lines());
}

TEST(StudyTexts, APartIsAColumnAndFirstLines) {
  const test_support::TemporaryFolder folder;
  const std::filesystem::path table = folder.path() / "train.tsv", words = folder.path() / "words.tsv";
  write_lines(table, {"1\tgood film", "0\tbad\tlast", "1\t"});
  EXPECT_EQ(read_part(table, {}), (Lines{"1\tgood film", "0\tbad\tlast", "1\t"}));
  EXPECT_EQ(read_part(table, {.column = 2}), (Lines{"good film", "bad", ""}));
  EXPECT_EQ(read_part(table, {.column = 1, .lines = 2}), (Lines{"1", "0"}));
  EXPECT_EQ(read_part(table, {.column = 1, .join = 2}), Lines{"1 0"});
  EXPECT_EQ(read_part(table, {.column = 1, .lines = 2, .join = 2}), Lines{"1 0"});
  EXPECT_THAT(test_support::error_of([&] { read_part(table, {.join = 4}); }),
              testing::EndsWith("has 3 lines, the study joins 4"));
  EXPECT_THAT(test_support::error_of([&] { read_part(table, {.column = 3}); }),
              testing::HasSubstr("train.tsv:1: has 2 columns, the study wants column 3"));
  EXPECT_THAT(test_support::error_of([&] { read_part(table, {.lines = 4}); }),
              testing::HasSubstr("train.tsv: has 3 lines, the study wants its first 4"));
  write_lines(words, {"", "the\tDET", "cat\tNOUN", "", "", "it\tPRON"});
  EXPECT_EQ(read_part(words, {.column = 1}), (Lines{"the cat", "it"}));
  EXPECT_EQ(read_part(words, {.column = 2, .lines = 1}), Lines{"DET NOUN"});
  write_lines(table, {"1\tgood film", "0\tbad", ""});  // empty lines at the end make no words of a table's lines
  EXPECT_EQ(read_part(table, {.column = 2}), (Lines{"good film", "bad"}));
}

TEST(StudyTexts, LowerCaseIsThatOfUnicode) {
  EXPECT_EQ(lower_cased({"ÄPFEL", "Straße I"}), (Lines{"äpfel", "straße i"}));
}

TEST(StudyTexts, TheBestShareOfLinesStaysInOrder) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(best_lines({0.1, 0.9, nan, 0.5}, 0.5), (std::vector<size_t>{1, 3}));
  EXPECT_EQ(best_lines({1.0, 1.0, 1.0, 1.0}, 0.5), (std::vector<size_t>{0, 1}));
  EXPECT_EQ(best_lines({0.1, nan, 0.2}, 1.0), (std::vector<size_t>{0, 1, 2}));
}

}  // namespace
}  // namespace dragoman::study
