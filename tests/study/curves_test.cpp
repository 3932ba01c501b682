// What a study says of the course of its trainings, from made curves.
#include "study/study_curves.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace dragoman::study {
namespace {

using testing::ElementsAre;

// A curve of (minutes, value); the last training ended after `total` minutes.
CellResult cell(const std::vector<std::pair<double, double>>& points, double total,
                double report::ValidationRow::*value = &report::ValidationRow::bleu) {
  CellResult result;
  result.last_minutes = total;
  for (const auto& [minutes, of_point] : points) {
    report::ValidationRow row;
    row.seconds = 60.0 * minutes;
    row.*value = of_point;
    result.curve.push_back(row);
  }
  return result;
}

class StudyCurves : public testing::Test {
 protected:
  StudyCurves() {
    study_.baseline = "fast";
    study_.shown_minutes = {5.0, 15.0, 60.0};
    for (const char* name : {"fast", "slow", "worse"}) {
      Row row;
      row.name = name;
      row.total_minutes = 15.0;
      study_.rows.push_back(row);
    }
    study_.stages.resize(1);
    study_.reached_row = "slow";
  }

  void add(const char* name, std::vector<CellResult> cells) {
    results_.rows.push_back({&study_.row(name), std::move(cells)});
  }
  std::vector<std::string> cells_of(const char* name) const {
    const report::StudyTable table = time_table(study_, results_);
    const auto row = std::ranges::find_if(table.rows, [&](const auto& cells) { return cells.front().english == name; });
    std::vector<std::string> texts;
    std::ranges::transform(row->begin() + 1, row->end(), std::back_inserter(texts), &report::SaidText::english);
    return texts;
  }

  Study study_;
  StudyResults results_;
};

TEST_F(StudyCurves, BestValuesAndMinutesAreMeansOverTheSeeds) {
  add("fast",
      {cell({{2, 20}, {4, 31}, {5, 30}, {15.1, 40}}, 15.1), cell({{3, 24}, {5, 33}, {14, 38}, {15.2, 37}}, 15.2)});
  add("slow", {cell({{4, 10}, {10, 30}, {15.1, 36}}, 15.1), cell({{4, 12}, {12, 32}, {15.1, 31}}, 15.1)});
  add("worse", {cell({{4, 5}, {15.1, 34}}, 15.1), cell({{6, 5}, {15.1, 31.9}}, 15.1)});
  // Both seeds of "slow" reach 32. The last validation of a training that the time ended counts as of that time, and a
  // training of 15 minutes has none after 60.
  EXPECT_THAT(cells_of("fast"), ElementsAre("32.00", "39.00", "n/a", "10.05"));
  EXPECT_THAT(cells_of("slow"), ElementsAre("11.00", "34.00", "n/a", "13.55"));
  EXPECT_THAT(cells_of("worse"), ElementsAre("n/a", "32.95", "n/a", "n/a"));
  const std::vector<report::SaidText> sentences = reach_sentences(study_, results_);
  ASSERT_EQ(sentences.size(), 2U);
  EXPECT_THAT(sentences[0].values, ElementsAre("fast", "slow", "BLEU", "32.00", "10.05", "13.55"));
  EXPECT_THAT(sentences[1].english, testing::HasSubstr("in {4} of {5} seeds"));
  EXPECT_THAT(sentences[1].values, ElementsAre("worse", "slow", "BLEU", "32.00", "1", "2"));
  for (const report::SaidText& each : sentences) {
    EXPECT_NE(report::text_in(report::PageLanguage::kChinese, each.english), each.english);
  }
}

TEST_F(StudyCurves, ARowThatNeverReachesTheValueSaysSo) {
  add("slow", {cell({{15.1, 36}}, 15.1)});
  add("worse", {cell({{15.1, 34}}, 15.1), cell({{15.1, 35}}, 15.1)});
  const std::vector<report::SaidText> sentences = reach_sentences(study_, results_);
  ASSERT_EQ(sentences.size(), 1U);
  EXPECT_THAT(sentences[0].english, testing::HasSubstr("in none of its seeds"));
  for (const report::SaidText& each : sentences) {
    EXPECT_NE(report::text_in(report::PageLanguage::kChinese, each.english), each.english);
  }
}

TEST_F(StudyCurves, EachSeedHasItsCurve) {
  add("fast", {cell({{3, 20}}, 15.1), cell({{3, 21}}, 15.1)});
  add("slow", {cell({{3, 10}}, 15.1), cell({{3, 11}}, 15.1), cell({{3, 12}}, 15.1)});
  results_.rows[1].cells[2].seed = 7;
  const std::vector<report::Chart> all = charts(study_, results_);
  ASSERT_EQ(all.size(), 1U);
  ASSERT_EQ(all[0].series.size(), 5U);
  EXPECT_EQ(all[0].series[1].name, "fast");
  EXPECT_EQ(all[0].series[4].name, "slow");
  EXPECT_EQ(all[0].series[4].seed, "7");
  EXPECT_THAT(all[0].series[4].y, ElementsAre(12.0));
}

TEST_F(StudyCurves, ALossIsReachedFromAbove) {
  study_.stages.front().text = {"text"};
  const auto loss = [](const std::vector<std::pair<double, double>>& points) {
    return cell(points, 15.1, &report::ValidationRow::loss);
  };
  add("fast", {loss({{3, 2.5}, {6, 1.9}, {15.1, 1.5}})});
  add("slow", {loss({{3, 3.0}, {8, 2.2}, {15.1, 2.0}}), loss({{3, 3.0}, {8, 1.8}, {15.1, 1.9}})});
  EXPECT_THAT(cells_of("fast"), ElementsAre("2.50", "1.50", "n/a", "6.00"));
  EXPECT_THAT(cells_of("slow"), ElementsAre("3.00", "1.90", "n/a", "11.55"));  // all seeds reach 2.0
}

TEST_F(StudyCurves, WithoutTheRowThatIsReachedThereIsNoColumn) {
  add("fast", {cell({{3, 20}}, 15.1)});
  EXPECT_EQ(time_table(study_, results_).columns.size(), 4U);
  EXPECT_TRUE(reach_sentences(study_, results_).empty());
}

// A training that patience ended after 8 minutes has been judged for good; what it had then is what it has after 60.
TEST_F(StudyCurves, ATrainingThatEndedByItselfHasItsValuesEver) {
  add("fast", {cell({{3, 20}, {8, 25}}, 8.0)});
  results_.rows[0].cells[0].ended_by_patience = true;
  EXPECT_THAT(cells_of("fast"), ElementsAre("20.00", "25.00", "25.00"));
  EXPECT_TRUE(time_table(study_, results_).note.english.empty());
}

// What a training of 8 minutes would have had after 15 is not known, whether time would have ended it or not.
TEST_F(StudyCurves, ATrainingThatUpdatesEndedHasNoValuesLater) {
  for (const double total : {0.0, 15.0}) {
    results_.rows.clear();
    study_.rows[0].total_minutes = total;
    add("fast", {cell({{3, 20}, {8, 25}}, 8.0)});
    EXPECT_THAT(cells_of("fast"), ElementsAre("20.00", "n/a", "n/a")) << total;
    EXPECT_THAT(time_table(study_, results_).note.english, testing::HasSubstr("n/a: the training of a seed ended"));
  }
}

}  // namespace
}  // namespace dragoman::study
