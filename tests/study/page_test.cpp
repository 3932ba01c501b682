// What the report of a study says beside its curves, from made results.
#include "study/study_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "study/row_settings.h"
#include "support/temporary_folder.h"

namespace dragoman::study {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

const Writer kWriter{"dragoman 1.2.3 (commit abc)", "2026-01-31"};

class StudyPage : public testing::Test {
 protected:
  StudyPage() {
    for (const char* name : {"base", "other"}) {
      Row row;
      row.name = name;
      study_.rows.push_back(row);
    }
    study_.rows[1].options.set("preset", {"gru-mini"});
    study_.baseline = "base";
    study_.stages.resize(1);
    study_.tests = {{"test", "a", "b"}};
    results_.tests = {"test"};
    results_.metrics = {"BLEU"};
    for (const Row& row : study_.rows) {
      CellResult cell;
      cell.minutes = 45.0;
      cell.scores["default"]["test"] = {30.0};
      results_.rows.push_back({&row, {cell, cell}});
    }
    results_.rows[0].cells[0].settings = {{"clip_norm", "1.0"}, {"dropout", "0.1"}, {"layers", "2"}};
    results_.rows[1].cells[0].settings = {{"clip_norm", "5.0"}, {"dropout", "0.1"}};
  }

  report::StudyReport page() const { return study_page(study_, results_, kWriter); }
  // The table whose caption begins so, each line joined by bars.
  std::vector<std::string> table(const std::string& caption) const {
    const report::StudyReport report = page();
    std::vector<std::string> lines;
    for (const auto* tables : {&report.tables, &report.facts}) {
      for (const report::StudyTable& each : *tables) {
        if (each.caption.english.starts_with(caption)) {
          lines.push_back(joined(each.columns));
          std::ranges::transform(each.rows, std::back_inserter(lines), joined);
        }
      }
    }
    return lines;
  }
  static std::string joined(const std::vector<report::SaidText>& cells) {
    std::string line;
    for (const report::SaidText& cell : cells) {
      line += (line.empty() ? "" : "|") + cell.english;
    }
    return line;
  }

  Study study_;
  StudyResults results_;
};

// The rows differ by their presets, which the column of changes does not show.
TEST_F(StudyPage, WhatDiffersBetweenTheRowsIsShownByTheirFiles) {
  EXPECT_THAT(table("What differs"), ElementsAre("option|base|other", "clip_norm|1.0|5.0", "layers|2|-"));
  results_.rows[1].cells[0].settings = results_.rows[0].cells[0].settings;
  EXPECT_TRUE(table("What differs").empty());
}

TEST_F(StudyPage, SettingsAreThoseOfTheNewestRecipeAndTheModel) {
  const test_support::TemporaryFolder folder;
  EXPECT_TRUE(settings_of(folder.path()).empty());
  for (const char* step : {"4", "10"}) {
    const auto checkpoint = folder.path() / "checkpoints" / (std::string("step-") + step);
    std::filesystem::create_directories(checkpoint);
    std::ofstream(checkpoint / "recipe.json")
        << R"({"clip_norm": )" << step << R"(, "learning_rate": 0.30000001192092896, "seed": 3, "tokenizer": "a/b", )"
        << R"("model": {"dropout": 0.5}})";
  }
  std::ofstream(folder.path() / "config.json")
      << R"({"tying": "all", "source_vocab_size": 4000, "vocabulary_size": 4000, "dropout": 0.1})";
  EXPECT_EQ(settings_of(folder.path()),
            (std::map<std::string, std::string>{
                {"clip_norm", "10"}, {"dropout", "0.1"}, {"learning_rate", "0.3"}, {"tying", "all"}}));
}

TEST_F(StudyPage, WhatTuningChoseIsShownForEachSeed) {
  EXPECT_TRUE(table("Searches that were tuned").empty());
  decoding::SearchOptions search;
  search.beam_size = 6;
  search.ranking.alpha = 1.2;
  CellResult& cell = results_.rows[1].cells[1];
  cell.seed = 3;
  cell.tuned = search;
  EXPECT_THAT(table("Searches that were tuned"),
              ElementsAre("row|seed|beam size|length penalty|alpha", "other|3|6|gnmt|1.2"));
  EXPECT_THAT(results_json(study_, results_), HasSubstr(R"("beam_size": 6)"));
}

TEST_F(StudyPage, EachMetricHasItsSignature) {
  results_.signatures = {"BLEU|nrefs:1|case:lc", "chrF2|nrefs:1|case:mixed"};
  EXPECT_THAT(report::study_markdown(page()), HasSubstr("BLEU|nrefs:1|case:lc; chrF2|nrefs:1|case:mixed"));
}

TEST_F(StudyPage, ItSaysWhatItRanOn) {
  const std::vector<std::string> lines = table("What it ran on");
  EXPECT_THAT(lines, Contains("program|dragoman 1.2.3 (commit abc)"));
  EXPECT_THAT(lines, Contains("workers|all cores"));
  EXPECT_THAT(lines, Contains("date of the report|2026-01-31"));
  EXPECT_THAT(lines, Contains("hours of all trainings|3.00")) << "two rows with two seeds of 45 minutes";
  EXPECT_THAT(lines, Contains(HasSubstr("processor|")));
  study_.rows[1].options.set("workers", {"2"});
  EXPECT_THAT(table("What it ran on"), Contains("workers|all cores, 2"));
  EXPECT_EQ(results_json(study_, results_).find("2026-01-31"), std::string::npos);
}

TEST_F(StudyPage, ASmallPIsNotZero) {
  Comparison comparison;
  comparison.standard_error = 0.1;
  for (const auto& [p, said] : {std::pair(0.0002, "p < 0.001."), {0.0421, "p = 0.042."}}) {
    comparison.p_value = comparison.p_adjusted = p;
    results_.comparisons = {{&study_.rows[1], "test", 2, comparison}};
    const std::string text = report::study_markdown(page());
    EXPECT_THAT(text, HasSubstr(said));
    EXPECT_THAT(text, HasSubstr(p < 0.001 ? "| < 0.001 | < 0.001 |" : "| 0.042 | 0.042 |"));
  }
}

TEST_F(StudyPage, ScoresStandBeforeTheChanges) {
  EXPECT_THAT(table("Search"), ElementsAre("row|seeds|BLEU, test|changes", "base|2|30.00 ± 0.00|-",
                                           "other|2|30.00 ± 0.00|--preset=gru-mini"));
}

// A text without Chinese would stand in English on the Chinese page.
TEST_F(StudyPage, SentencesCaptionsAndNotesAreInBothLanguages) {
  const auto has_chinese = [](const report::SaidText& text) {
    return report::text_in(report::PageLanguage::kChinese, text.english) != text.english;
  };
  for (const Verdict verdict : {Verdict::kBetter, Verdict::kWorse, Verdict::kUndecided}) {
    Comparison comparison;
    comparison.verdict = verdict;
    results_.comparisons.push_back({&study_.rows[1], "test", 2, comparison});
  }
  results_.rows[0].cells[0].tuned = decoding::SearchOptions();
  const report::StudyReport report = page();
  ASSERT_EQ(report.conclusions.size(), 3U);
  for (const report::SaidText& sentence : report.conclusions) {
    EXPECT_TRUE(has_chinese(sentence)) << sentence.english;
  }
  for (const auto* tables : {&report.tables, &report.facts}) {
    for (const report::StudyTable& each : *tables) {
      for (const report::SaidText* text : {&each.caption, &each.note, &report.chart_note}) {
        EXPECT_TRUE(text->english.empty() || has_chinese(*text)) << text->english;
      }
    }
  }
}

}  // namespace
}  // namespace dragoman::study
