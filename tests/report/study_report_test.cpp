#include "report/study_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/markup_check.h"

namespace dragoman::report {
namespace {

using testing::HasSubstr;
using testing::Not;

StudyReport sample() {
  StudyReport report;
  report.title = "Norms <b>";
  report.about = "a & b";
  report.status = {"{0} of {1} runs are done", {"3", "4"}};
  report.conclusions = {{"{0} is better than {1}: {2} {6} on {3}, seeds: {4}, p {5}.",
                         {"rms|x", "layer{0}", "+0.50", "test", "3", "= 0.004", "BLEU"}}};
  report.tables = {{{"Against {0}", {"layer"}},
                    {{"row", {}}, {"verdict", {}}},
                    {{{"rms|x", {}}, {"better", {}}}},
                    {"BLEU|nrefs:1", {}}}};
  Chart chart;
  chart.title = "rms";
  chart.x_label = "minutes";
  chart.series = {{"layer", {1, 2}, {3, 4}}, {"rms", {1, 2}, {3, 5}}};
  report.charts = {chart};
  return report;
}

TEST(StudyReport, IsWellFormedAndEscaped) {
  const std::string page = render_study(sample());
  EXPECT_EQ(test_support::MarkupCheck::first_fault(page), std::nullopt);
  EXPECT_THAT(page, HasSubstr("Norms &lt;b&gt;"));
  EXPECT_THAT(page, Not(HasSubstr("://")));
}

TEST(StudyReport, SpeaksBothLanguages) {
  const std::string page = render_study(sample());
  EXPECT_THAT(page, HasSubstr("rms|x 优于 layer{0}：在 test 上 BLEU 相差 +0.50，种子数 3，p = 0.004。"));
  EXPECT_THAT(page, HasSubstr("4 次训练中已完成 3 次"));
  EXPECT_THAT(page, HasSubstr("更好"));
  EXPECT_THAT(page, HasSubstr("与 layer 比较"));
}

// A long cell in front of numbers would push them off the screen.
TEST(StudyReport, LongCellsWrap) {
  StudyReport report = sample();
  report.tables[0].rows.push_back({{"wide", {}}, {"--d-model=512 --d-ff=2048 --n-heads=8 --dropout=0.3", {}}});
  const std::string page = render_study(report);
  EXPECT_THAT(page, HasSubstr("<td class=\"words\">--d-model=512"));
  EXPECT_THAT(page, HasSubstr("table.study .words { white-space: normal;"));
  EXPECT_THAT(page, Not(HasSubstr("<th scope=\"row\" class=\"words\">wide")));
}

TEST(StudyReport, MarkdownHasConclusionsAndTables) {
  const std::string text = study_markdown(sample());
  EXPECT_THAT(text, HasSubstr("# Norms <b>\n\na & b\n\n3 of 4 runs are done\n"));
  EXPECT_THAT(text, HasSubstr("- rms|x is better than layer{0}: +0.50 BLEU on test, seeds: 3, p = 0.004.\n"));
  EXPECT_THAT(text, HasSubstr("Against layer\n\n| row | verdict |\n|---|---|\n| rms\\|x | better |\n\nBLEU|nrefs:1\n"));
}

}  // namespace
}  // namespace dragoman::report
