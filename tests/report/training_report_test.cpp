#include "report/training_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "base/files.h"
#include "support/markup_check.h"
#include "support/temporary_folder.h"

namespace dragoman::report {
namespace {

using test_support::count_of;
using test_support::MarkupCheck;
using testing::HasSubstr;
using testing::Not;

ReportData sample_report() {
  ReportData data;
  data.title = "Report of a run";
  data.warnings = {"the model is large for the data"};
  data.facts = {{"Model", {{"parameters", "3,452,160"}}}, {"Data", {{"pairs", "29,000"}}}};
  for (int64_t step = 50; step <= 2000; step += 50) {
    const double loss = 100.0 / static_cast<double>(step);
    data.metrics.train.push_back({step, 0.5, loss, 1e-4, 4000, 1.0, 1.0});
    if (step % 500 == 0) {
      data.metrics.validation.push_back({step, 0.5, loss, std::exp(loss), 20.0 + loss, 50.0, true, 1.0});
      data.samples.push_back({step, {{"the animal", "das Tier", "answer of step " + std::to_string(step)}}});
    }
  }
  data.metrics.events = {{0, "start", "started with seed 1", 0}};
  data.attention = {{"layer 1", "target", "source", {"a"}, {"b", "c"}, {0.25F, 0.75F}}};
  data.figures = {{"A drawing", "its caption", "<svg></svg>"}};
  return data;
}

void expect_sound(const std::string& page) {
  const auto fault = MarkupCheck::first_fault(page);
  EXPECT_FALSE(fault.has_value()) << *fault;
}

TEST(Report, HoldsEveryPart) {
  const std::string page = render_report(sample_report());
  expect_sound(page);
  for (const char* part : {"Report of a run", "the model is large for the data", "3,452,160", "29,000", "Loss", "BLEU",
                           "chrF", "perplexity", "Learning rate", "Target tokens a second", "the animal", "das Tier",
                           "started with seed 1", "a \u2192 c: 0.750", "its caption"}) {
    EXPECT_THAT(page, HasSubstr(part));
  }
}

TEST(Report, DrawsTheDivergenceOfRdropWhereThereIsOne) {
  ReportData data = sample_report();
  EXPECT_THAT(render_report(data), Not(HasSubstr("Divergence of the two passes")));
  data.metrics.train.back().kl = 0.25;
  EXPECT_THAT(render_report(data), HasSubstr("Divergence of the two passes"));
}

TEST(Report, ShowsTheNewestTranslationFirstAndFoldsTheEarlierOnes) {
  const std::string page = render_report(sample_report());
  const size_t newest = page.find("answer of step 2000"), fold = page.find("<details>");
  const size_t before = page.find("answer of step 1500"), oldest = page.find("answer of step 500");
  EXPECT_LT(newest, fold);
  EXPECT_LT(fold, before);
  EXPECT_LT(before, oldest);
  EXPECT_EQ(count_of(page, "the animal"), 1U) << "source and reference are not repeated";
}

/// The texts of all elements that begin like this, up to the end of the element.
std::vector<std::string> contents_of(const std::string& page, const std::string& open, const std::string& close) {
  std::vector<std::string> contents;
  for (size_t at = page.find(open); at != std::string::npos; at = page.find(open, at + 1)) {
    contents.push_back(page.substr(at + open.size(), page.find(close, at) - at - open.size()));
  }
  return contents;
}

TEST(Report, SpeaksBothLanguages) {
  ReportData data = sample_report();
  data.title = "Training report";
  data.status = "finished: all steps done";
  data.facts[1].facts[0].name = "pairs kept";
  data.figures.clear();
  data.attention[0].title = "Cross-attention, last layer";
  const std::string page = render_report(data);
  EXPECT_THAT(page, HasSubstr("for=\"speak-zh\""));
  size_t seen = 0;
  for (const auto& [open, close] :
       {std::pair("<h1>", "</h1>"), std::pair("<h2>", "</h2>"), std::pair("<figcaption>", "</figcaption>"),
        std::pair("<caption>", "</caption>"), std::pair("<th scope=\"row\">", "</th>"), std::pair("<dt>", "</dt>"),
        std::pair("<summary>", "</summary>"), std::pair("<span class=\"status\">", "</p>")}) {
    for (const std::string& text : contents_of(page, open, close)) {
      EXPECT_THAT(text, HasSubstr("class=\"zh\" lang=\"zh-Hans\">")) << open;
      ++seen;
    }
  }
  EXPECT_GT(seen, 25U);
  EXPECT_EQ(count_of(page, "<svg class=\"chart\""), 12U) << "each chart in both languages";
  EXPECT_THAT(page, HasSubstr("折线图：学习率"));
}

TEST(Report, TextsOfPeopleHaveTheirOwnDirection) {
  EXPECT_THAT(render_report(sample_report()), HasSubstr("<dd dir=\"auto\">das Tier</dd>"));
}

TEST(Report, NeedsNothingFromOutside) {
  const std::string page = render_report(sample_report());
  for (const char* reference : {"http:", "https:", "//", "src=", "url(", "@import", "<link", "<script", "href="}) {
    EXPECT_THAT(page, Not(HasSubstr(reference)));
  }
  EXPECT_THAT(page, HasSubstr("Content-Security-Policy"));
}

TEST(Report, EveryTextIsEscaped) {
  const std::string hostile = "'\"><script>alert(1)</script><img src=x onerror=alert(1)>&\xFF\x01";
  ReportData data = sample_report();
  data.title = data.subtitle = data.status = data.updated = hostile;
  data.warnings = {hostile};
  data.facts = {{hostile, {{hostile, hostile}}}};
  data.metrics.events = {{1, hostile, hostile, 0}, {2, hostile, "", 0}};
  data.samples = {{1, {{hostile, hostile, hostile}}}, {2, {{hostile, hostile, hostile}}}};
  data.attention = {{hostile, hostile, hostile, {hostile}, {hostile}, {1.0F}}};
  data.figures = {{hostile, hostile, ""}};
  const std::string page = render_report(data);
  expect_sound(page);
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, Not(HasSubstr("<img")));
  EXPECT_THAT(page, Not(HasSubstr("\xFF")));
  EXPECT_THAT(page, Not(HasSubstr("\x01")));
}

TEST(Report, IsSoundWithoutAnything) {
  const std::string page = render_report({});
  expect_sound(page);
  EXPECT_THAT(page, HasSubstr("no values yet"));
}

TEST(Report, IsSoundWithNumbersThatAreNotFinite) {
  ReportData data;
  data.metrics.train = {{1, 0, kNotMeasured, kNotMeasured, kNotMeasured, kNotMeasured, kNotMeasured}};
  data.metrics.validation = {{1, 0, kNotMeasured, INFINITY, kNotMeasured, kNotMeasured, false, 0}};
  const std::string page = render_report(data);
  expect_sound(page);
  EXPECT_THAT(page, Not(HasSubstr("\"nan")));
}

TEST(Report, SamplesOfAnotherSentenceAreNotMixedIn) {
  ReportData data;
  data.samples = {{1, {{"other", "", "old answer"}}}, {2, {{"this", "", "new answer"}, {"more", "", ""}}}};
  const std::string page = render_report(data);
  EXPECT_THAT(page, Not(HasSubstr("old answer")));
  EXPECT_THAT(page, HasSubstr("(empty)"));
}

TEST(Report, IsWrittenWhole) {
  const test_support::TemporaryFolder folder;
  write_report(folder.path() / "report.html", sample_report());
  EXPECT_EQ(base::read_file(folder.path() / "report.html"), render_report(sample_report()));
}

TEST(MarkupCheckItself, FindsFaults) {
  for (const char* broken : {"<a>", "<a></b>", "</a>", "a & b", "x < y", "<a b=c></a>", "<a b=\"1\" b=\"2\"></a>"}) {
    EXPECT_TRUE(MarkupCheck::first_fault(broken).has_value()) << broken;
  }
  EXPECT_FALSE(MarkupCheck::first_fault("<!DOCTYPE html><a b=\"c\"><d/>&amp;</a><style>a > b & c</style>").has_value());
}

}  // namespace
}  // namespace dragoman::report
