// Every entry of sacrebleu_cases.json, which tests/peers/sacrebleu_make_cases.py wrote with sacreBLEU 2.6.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "evaluation/evaluate.h"
#include "evaluation/numpy_random.h"
#include "evaluation/text.h"

namespace dragoman::evaluation {
namespace {

using Json = nlohmann::json;
using Strings = std::vector<std::string>;

constexpr int kWidth = 10;

const Json& table() {
  static const Json cases = [] {
    std::ifstream file(std::string(DRAGOMAN_TEST_DATA) + "/sacrebleu_cases.json");
    return Json::parse(file);
  }();
  return cases;
}

BleuOptions bleu_options(const Json& json) {
  BleuOptions options;
  options.tokenize = parse_tokenizer(json.at("tokenize").get<std::string>());
  options.lowercase = json.at("lowercase").get<bool>();
  options.smoothing = parse_smoothing(json.at("smooth_method").get<std::string>());
  options.effective_order = json.at("effective_order").get<bool>();
  if (!json.at("smooth_value").is_null()) {
    options.smooth_value = json.at("smooth_value").get<double>();
  }
  return options;
}

std::unique_ptr<Metric> make_metric(const Json& entry) {
  const Json& options = entry.at("options");
  if (entry.at("metric") == "bleu") {
    return std::make_unique<Bleu>(bleu_options(options));
  }
  if (entry.at("metric") == "ter") {
    return std::make_unique<Ter>(TerOptions{.case_sensitive = options.at("case_sensitive").get<bool>(),
                                            .normalized = options.at("normalized").get<bool>(),
                                            .no_punctuation = options.at("no_punct").get<bool>(),
                                            .asian_support = options.at("asian_support").get<bool>()});
  }
  return std::make_unique<Chrf>(ChrfOptions{.char_order = options.at("char_order").get<int>(),
                                            .word_order = options.at("word_order").get<int>(),
                                            .beta = options.at("beta").get<int>(),
                                            .lowercase = options.at("lowercase").get<bool>()});
}

std::unique_ptr<Metric> sentence_metric(const Json& entry) {
  Json changed = entry;
  changed["options"]["effective_order"] = true;
  return make_metric(changed);
}

MetricScore score(const Metric& metric, const std::vector<double>& sums, size_t n_references) {
  return {.name = metric.name(),
          .score = metric.score(sums),
          .interval = std::nullopt,
          .details = metric.details(sums),
          .signature = metric.signature(n_references, {})};
}

struct Texts {
  std::vector<Strings> all;  // hypothesis first
  std::vector<Lines> references() const { return {all.begin() + 1, all.end()}; }
};

Texts texts_of(const Json& entry) {
  return {table().at("texts").at(entry.at("text").get<std::string>()).get<std::vector<Strings>>()};
}

std::string describe(const Json& entry) {
  return entry.at("text").get<std::string>() + " " + entry.at("options").dump();
}

TEST(SacrebleuCases, CorpusLinesAreEqual) {
  for (const Json& entry : table().at("scores")) {
    const Texts texts = texts_of(entry);
    const std::unique_ptr<Metric> metric = make_metric(entry);
    const CountTable counts = metric->count(texts.all[0], texts.references());
    EXPECT_EQ(score_line(score(*metric, counts.sums(), texts.all.size() - 1), kWidth),
              entry.at("line").get<std::string>())
        << describe(entry);
  }
}

TEST(SacrebleuCases, SentenceScoresAreEqual) {
  for (const Json& entry : table().at("scores")) {
    const Texts texts = texts_of(entry);
    const std::unique_ptr<Metric> metric = sentence_metric(entry);
    const CountTable counts = metric->count(texts.all[0], texts.references());
    const auto expected = entry.at("sentences").get<Strings>();
    ASSERT_EQ(counts.rows(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(fmt::format("{:.{}f}", metric->score(counts.row(i)), kWidth), expected[i])
          << describe(entry) << " line " << i + 1;
    }
  }
}

TEST(SacrebleuCases, JsonIsEqualByteForByte) {
  int compared = 0;
  for (const Json& entry : table().at("scores")) {
    if (!entry.contains("json")) {
      continue;
    }
    const Texts texts = texts_of(entry);
    const std::unique_ptr<Metric> metric = make_metric(entry);
    Report report;
    report.scores = {score(*metric, metric->count(texts.all[0], texts.references()).sums(), 1)};
    EXPECT_EQ(render_json(report), entry.at("json").get<std::string>() + "\n");
    ++compared;
  }
  EXPECT_GT(compared, 0) << "the table holds no JSON";
}

TEST(SacrebleuCases, WordsAreEqual) {
  for (const Json& entry : table().at("tokens")) {
    const auto line = entry.at("line").get<std::string>();
    const auto name = entry.at("tokenize").get<std::string>();
    const std::string tokenized = tokenize(parse_tokenizer(name), trim_right(line));
    const std::vector<std::string_view> words = split_words(tokenized);
    EXPECT_EQ(Strings(words.begin(), words.end()), entry.at("words").get<Strings>()) << name << ": " << line;
  }
}

TEST(SacrebleuCases, RandomNumbersAreNumpys) {
  for (const Json& entry : table().at("draws")) {
    NumpyRandom random(entry.at("seed").get<uint64_t>());
    const auto bound = entry.at("bound").get<uint32_t>();
    for (const Json& expected : entry.at("values")) {
      EXPECT_EQ(random.below(bound), expected.get<uint32_t>()) << "seed " << entry.at("seed") << " bound " << bound;
    }
  }
}

std::vector<Text> paired_systems() {
  std::vector<Text> systems;
  for (const Json& lines : table().at("paired").at("systems")) {
    systems.push_back({.name = "system" + std::to_string(systems.size()), .lines = lines.get<Strings>()});
  }
  return systems;
}

Text paired_reference() {
  return {.name = "reference", .lines = table().at("paired").at("reference").get<Strings>()};
}

TEST(SacrebleuCases, IntervalsAreEqual) {
  EvaluateOptions options;
  options.metrics = parse_metrics("bleu,chrf,chrf++,ter");
  options.confidence = true;
  for (const Json& entry : table().at("intervals")) {
    options.resamples = entry.at("resamples").get<int>();
    options.seed = entry.at("seed").get<uint64_t>();
    const Report report = evaluate({paired_systems()[1]}, {paired_reference()}, options);
    const auto expected = entry.at("lines").get<Strings>();
    ASSERT_EQ(report.scores.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(score_line(report.scores[i], kWidth), expected[i]);
    }
  }
}

TEST(SacrebleuCases, PairedBootstrapIsEqual) {
  EvaluateOptions options;
  options.metrics = parse_metrics("bleu,chrf++,ter");
  const Report report = evaluate(paired_systems(), {paired_reference()}, options);
  const Json& expected = table().at("paired").at("results");
  ASSERT_EQ(report.systems.size(), expected.size());
  for (size_t s = 0; s < expected.size(); ++s) {
    for (size_t m = 0; m < report.scores.size(); ++m) {
      const ComparedScore& seen = report.systems[s].scores[m];
      const Json& wanted = expected[s].at(report.scores[m].name);
      EXPECT_DOUBLE_EQ(seen.score, wanted.at("score").get<double>());
      EXPECT_DOUBLE_EQ(seen.interval.mean, wanted.at("mean").get<double>());
      EXPECT_DOUBLE_EQ(seen.interval.half_width, wanted.at("ci").get<double>());
      EXPECT_EQ(seen.p_value.has_value(), s > 0);
      EXPECT_DOUBLE_EQ(seen.p_value.value_or(-1.0),
                       wanted.at("p_value").is_null() ? -1.0 : wanted.at("p_value").get<double>());
    }
  }
}

}  // namespace
}  // namespace dragoman::evaluation
