#include "evaluation/evaluate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "support/expect_error.h"

namespace dragoman::evaluation {
namespace {

using testing::HasSubstr;

const Text kReference{.name = "ref.en", .lines = {"The animal was too tired.", "The street was wide.", "It is late."}};
const Text kGood{.name = "good.en", .lines = {"The animal was too tired.", "The street was wide.", "It was late."}};
const Text kBad{.name = "bad.en", .lines = {"An animal tired.", "", "Late it is."}};

int status_of(const std::vector<Text>& systems, const std::vector<Text>& references, const EvaluateOptions& options,
              const std::string& part) {
  try {
    evaluate(systems, references, options);
  } catch (const base::Error& error) {
    EXPECT_THAT(error.what(), HasSubstr(part));
    return error.exit_status();
  }
  return 0;
}

TEST(ParseMetrics, TakesEachOnceInOrder) {
  EXPECT_EQ(parse_metrics("chrf++,bleu,chrf++"), (std::vector{MetricKind::kChrfPlusPlus, MetricKind::kBleu}));
  EXPECT_THROW(parse_metrics("bleu,wer"), base::Error);
  EXPECT_THROW(parse_metrics(""), base::Error);
  EXPECT_THROW(parse_metrics("bleu,"), base::Error);
}

TEST(Evaluate, LinesAreAlignedAtTheEqualsSign) {
  EvaluateOptions options;
  options.width = 1;
  const std::string text = render_text(evaluate({kGood}, {kReference}, options));
  EXPECT_EQ(text,
            "  BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0 = 84.3 "
            "93.3/83.3/77.8/83.3 (BP = 1.000 ratio = 1.000 hyp_len = 15 ref_len = 15)\n"
            "chrF2|nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:2.6.0 = 92.9\n");
}

TEST(Evaluate, ChineseInATokenizerThatNeedsSpacesIsWarnedOf) {
  const Text chinese{.name = "ref.zh", .lines = {"大凌小者，警以诱之。", "刚中而应。", "中。"}};
  const auto warnings = [&](Tokenizer tokenize, std::vector<MetricKind> metrics) {
    EvaluateOptions options;
    options.tokenize = tokenize;
    options.metrics = std::move(metrics);
    return evaluate({kGood}, {chinese}, options).warnings;
  };
  EXPECT_THAT(warnings(Tokenizer::k13a, {MetricKind::kBleu}),
              testing::ElementsAre("ref.zh: is Chinese; BLEU with the tokenizer 13a takes sentences without spaces for "
                                   "words; use --tokenize zh"));
  EXPECT_THAT(warnings(Tokenizer::kZh, {MetricKind::kBleu}), testing::IsEmpty());
  EXPECT_THAT(warnings(Tokenizer::k13a, {MetricKind::kChrf}), testing::IsEmpty());
}

TEST(Evaluate, SentenceLevelGivesOneLineEach) {
  EvaluateOptions options;
  options.metrics = {MetricKind::kChrf};
  options.sentence_level = true;
  const Report report = evaluate({kBad}, {kReference}, options);
  ASSERT_EQ(report.scores.size(), 3U);
  EXPECT_EQ(report.scores[1].score, 0.0) << "the empty line";
  const std::string json = render_json(report);
  EXPECT_EQ(std::count(json.begin(), json.end(), '\n'), 3);
  EXPECT_EQ(nlohmann::json::parse(json.substr(0, json.find('\n'))).at("name"), "chrF2");
}

TEST(Evaluate, ConfidenceEntersTheSignature) {
  EvaluateOptions options;
  options.metrics = {MetricKind::kBleu};
  options.confidence = true;
  options.resamples = 50;
  options.seed = 3;
  const std::string text = render_text(evaluate({kGood}, {kReference}, options));
  EXPECT_THAT(text, HasSubstr("nrefs:1|bs:50|seed:3|case:mixed"));
  EXPECT_THAT(text, HasSubstr("(μ = "));
}

TEST(Evaluate, ComparisonsAreDrawnAsATable) {
  EvaluateOptions options;
  options.resamples = 20;
  options.width = 1;
  const Report report = evaluate({kGood, kBad}, {kReference}, options);
  ASSERT_EQ(report.systems.size(), 2U);
  EXPECT_FALSE(report.systems[0].scores[0].p_value.has_value());
  EXPECT_TRUE(report.systems[1].scores[1].p_value.has_value());
  const std::string text = render_text(report);
  EXPECT_THAT(text, HasSubstr("│            System │  BLEU (μ ± 95% CI)  │"));
  EXPECT_THAT(text, HasSubstr("│ Baseline: good.en │"));
  EXPECT_THAT(text, HasSubstr("(p = "));
  const nlohmann::json json = nlohmann::json::parse(render_json(report));
  EXPECT_EQ(json.at(0).at("system"), "Baseline: good.en");
  EXPECT_TRUE(json.at(0).at("BLEU").at("p_value").is_null());
  EXPECT_EQ(json.at(1).at("BLEU").at("score").get<double>(), report.systems[1].scores[0].score);
}

TEST(Evaluate, ManyDetachedPeriodsAreReported) {
  const Text tokenized{.name = "tok.en", .lines = std::vector<std::string>(100, "It is late .")};
  EXPECT_THAT(evaluate({tokenized}, {tokenized}).warnings, testing::ElementsAre(HasSubstr("tok.en: 100 lines")));
  EXPECT_TRUE(evaluate({kGood}, {kReference}).warnings.empty());
}

TEST(Evaluate, UnequalLineCountsNameBothFiles) {
  const Text shorter{.name = "short.en", .lines = {"a"}};
  EXPECT_EQ(status_of({shorter}, {kReference}, {}, "short.en has 1 lines, ref.en has 3"), 65);
  EXPECT_EQ(status_of({kGood}, {kReference, shorter}, {}, "short.en has 1 lines, ref.en has 3"), 65);
  const Text empty{.name = "empty.en", .lines = {}};
  EXPECT_EQ(status_of({empty}, {empty}, {}, "empty.en has no lines"), 65);
}

TEST(Evaluate, ProgressIsToldInLinesAndResamples) {
  EvaluateOptions options;
  options.metrics = {MetricKind::kTer};
  options.resamples = 20;
  std::vector<std::string> told;
  options.progress = [&](std::string_view metric, std::string_view unit, int64_t done, int64_t total) {
    told.push_back(fmt::format("{} {}/{} {}", metric, done, total, unit));
  };
  evaluate({kGood, kBad}, {kReference}, options);
  ASSERT_EQ(told.size(), 22U);
  EXPECT_EQ(told[0], "TER 3/6 lines");
  EXPECT_EQ(told[1], "TER 6/6 lines");
  EXPECT_EQ(told[21], "TER 20/20 resamples");
}

TEST(Evaluate, LinesCountedInPortionsScoreTheSame) {
  Text longer{.name = "long", .lines = {}}, reference{.name = "ref", .lines = {}};
  for (size_t i = 0; i < 1001; ++i) {
    longer.lines.push_back(kGood.lines[i % 3]);
    reference.lines.push_back(kReference.lines[(i / 3) % 3]);
  }
  const Report report = evaluate({longer}, {reference});
  EXPECT_EQ(report.scores[0].score, corpus_bleu(longer.lines, {reference.lines}).score);
  EXPECT_EQ(report.scores[1].score, corpus_chrf(longer.lines, {reference.lines}).score);
}

TEST(Evaluate, OptionsThatExcludeEachOtherAreRefused) {
  EvaluateOptions options;
  options.sentence_level = true;
  EXPECT_EQ(status_of({kGood}, {kReference}, options, "2 metrics"), 2);
  options.metrics = {MetricKind::kBleu};
  options.confidence = true;
  EXPECT_EQ(status_of({kGood}, {kReference}, options, "sentence-level"), 2);
  options.sentence_level = false;
  EXPECT_EQ(status_of({kGood, kBad}, {kReference}, options, "confidence"), 2);
  options.resamples = 1;
  EXPECT_EQ(status_of({kGood}, {kReference}, options, "confidence-n"), 2);
  options.resamples = 1000;
  options.width = 16;
  EXPECT_EQ(status_of({kGood}, {kReference}, options, "width"), 2);
}

TEST(ReadText, EndsLinesAtLfAndDropsWhiteSpaceAtTheirEnds) {
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / fmt::format("dragoman_read_text_{}.txt", static_cast<long>(::getpid()));
  std::ofstream(path, std::ios::binary) << "a b \r\n\n  c\u2028d\u00a0\nlast";
  const Text text = read_text(path);
  std::filesystem::remove(path);
  EXPECT_EQ(text.name, path.string());
  EXPECT_THAT(text.lines, testing::ElementsAre("a b", "", "  c\u2028d", "last"));
}

TEST(ReadText, AMissingFileIsBadInput) {
  test_support::expect_error(base::ErrorKind::kBadData, {"/no/such/file.en"},
                             [] { static_cast<void>(read_text("/no/such/file.en")); });
}

}  // namespace
}  // namespace dragoman::evaluation
