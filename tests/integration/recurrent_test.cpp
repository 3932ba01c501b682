// Every command with recurrent and convolutional models, batch norms and other sub-layers of decoders: what
// tests/integration/second_architecture_test.cpp asks of any architecture.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/files.h"
#include "base/utf8.h"
#include "support/running_server.h"
#include "support/training_runs.h"

namespace dragoman {
namespace {

using nlohmann::json;
using test_support::Outcome;

constexpr int64_t kSteps = 30, kTaughtSteps = 250;
constexpr size_t kLines = 8;  // of the validation text

struct Shape {
  const char* name;
  std::map<std::string, std::string> flags;
  bool has_attention = true;
  const char* architecture = "recurrent";
};

class RecurrentCommands : public test_support::TrainingRuns, public testing::WithParamInterface<Shape> {
 protected:
  static std::vector<std::string> recurrent_command(const std::string& model, int64_t steps,
                                                    const std::map<std::string, std::string>& changes = {}) {
    std::map<std::string, std::string> options = GetParam().flags;
    options.merge(
        std::map<std::string, std::string>{{"preset", "gru-mini"}, {"d-model", "32"}, {"validate-every", "10"}});
    options.insert(changes.begin(), changes.end());
    if (GetParam().architecture == std::string("transformer")) {
      return command(model, steps, options);
    }
    options.try_emplace("d-hidden", "24");
    std::vector<std::string> words = command(model, steps, options);
    for (const char* option : {"--encoder-layers", "--decoder-layers", "--d-ff", "--n-heads"}) {
      const auto at = std::ranges::find(words, option);  // a Transformer's
      words.erase(at, at + 2);
    }
    return words;
  }
  void train(const std::string& model, int64_t steps) const { TrainingRuns::train(recurrent_command(model, steps)); }

  std::string output_of(const std::string& words) const {
    const Outcome outcome = program_.run(words);
    EXPECT_EQ(outcome.status, 0) << words << ": " << outcome.err;
    return outcome.out;
  }
  // The model "model", of so many updates that it writes something else for each line.
  void teach() const {
    TrainingRuns::train(recurrent_command("model", kTaughtSteps, {{"learning-rate", "5e-3"}}));
    const std::vector<std::string> written = lines_of("translate --model model --input valid.source");
    const std::set<std::string> different(written.begin(), written.end());
    ASSERT_EQ(written.size(), kLines);
    ASSERT_GE(different.size(), kLines - 2) << fmt::format("{}", fmt::join(written, "|"));
    ASSERT_FALSE(different.contains(""));
  }
  // What a command prints for each line, without the numbers of lines, which differ where one is alone.
  std::vector<std::string> lines_of(const std::string& words) const {
    std::vector<std::string> lines = base::split_lines(output_of(words));
    for (std::string& line : lines) {
      if (line.starts_with('{')) {
        json translation = json::parse(line);
        translation.erase("line");
        line = translation.dump();
      }
    }
    return lines;
  }
  // The same for the validation text, each line given alone.
  std::vector<std::string> alone(const std::string& words) const {
    const auto source = base::split_lines(program_.read("valid.source")),
               target = base::split_lines(program_.read("valid.target"));
    std::vector<std::string> outputs;
    for (size_t i = 0; i < source.size(); ++i) {
      program_.write("line.source", source[i] + "\n");
      program_.write("line.target", target[i] + "\n");
      std::ranges::copy(lines_of(words + texts_of(words, "line")), std::back_inserter(outputs));
    }
    return outputs;
  }
  std::vector<std::string> together(const std::string& words) const {
    return lines_of(words + texts_of(words, "valid"));
  }
  void expect_scores_alone_as_together(const std::string& model) const {
    const std::string score = "score --model " + model;
    const std::vector<std::string> scores = together(score);
    EXPECT_EQ(scores, alone(score)) << model;
    EXPECT_EQ(std::set<std::string>(scores.begin(), scores.end()).size(), kLines) << model;
    for (const std::string& each : scores) {
      EXPECT_LT(std::stod(each), 0.0) << model;
    }
  }

 private:
  static std::string texts_of(const std::string& words, const std::string& name) {
    return words.starts_with("score") ? fmt::format(" --source {0}.source --target {0}.target", name)
                                      : fmt::format(" --input {}.source", name);
  }
};
INSTANTIATE_TEST_SUITE_P(
    Shapes, RecurrentCommands,
    testing::Values(Shape{"gru_bahdanau", {}}, Shape{"gru", {{"attention", "none"}, {"layers", "2"}}, false},
                    Shape{"lstm_luong", {{"cell", "lstm"}, {"attention", "luong"}}},
                    Shape{"lstm_feeding",
                          {{"cell", "lstm"}, {"attention", "luong"}, {"input-feeding", "true"}, {"layers", "2"}}},
                    Shape{"convolutional", {{"preset", "conv-mini"}}, true, "convolutional"},
                    Shape{"weight_norm", {{"preset", "conv-mini"}, {"weight-norm", "true"}}, true, "convolutional"},
                    Shape{"batch_norm", {{"preset", "tiny"}, {"norm", "batch"}}, true, "transformer"},
                    Shape{"batch_norm_pre", {{"preset", "tiny-prenorm"}, {"norm", "batch"}}, true, "transformer"},
                    Shape{"ssru", {{"preset", "tiny"}, {"decoder-sublayer", "ssru"}}, true, "transformer"},
                    Shape{"average_attention",
                          {{"preset", "tiny-prenorm"}, {"decoder-sublayer", "average-attention"}},
                          true,
                          "transformer"}),
    [](const auto& tested) { return tested.param.name; });

TEST_P(RecurrentCommands, ResumedIsNeverStopped) {
  train("whole", kSteps);
  train("halves", kSteps / 2);
  train("halves", kSteps);
  expect_same_run("halves", "whole", kSteps);
}

TEST_P(RecurrentCommands, LearnsAndIsValidated) {
  for (const char* precision : {"float32", "bfloat16"}) {
    TrainingRuns::train(recurrent_command(precision, kSteps,
                                          {{"valid-source", "valid.source"},
                                           {"valid-target", "valid.target"},
                                           {"precision", precision},
                                           {"workers", "2"}}));
    const report::MetricsHistory metrics = report::read_metrics(path(precision) / "metrics.jsonl");
    ASSERT_EQ(metrics.validation.size(), static_cast<size_t>(kSteps / 10));
    EXPECT_LT(metrics.validation.back().loss, metrics.validation.front().loss) << precision;
    EXPECT_TRUE(std::isfinite(metrics.validation.back().bleu)) << precision;
  }
}

// With first weights far too large the loss begins above that of a guess, and training lags behind.
TEST_P(RecurrentCommands, BeginsNearTheLossOfAGuess) {
  TrainingRuns::train(recurrent_command("first", 1, {{"log-every", "1"}, {"dropout", "0"}}));
  const double first = report::read_metrics(path("first") / "metrics.jsonl").train.front().loss;
  const auto config = json::parse(base::read_file(path("first") / "config.json"));
  EXPECT_LT(first, std::log(config.at("target_vocab_size").get<double>()) + 2.0);
}

TEST_P(RecurrentCommands, TranslatesAndScoresWithTheSameBytesAloneAndInABatch) {
  teach();
  const Outcome covered =
      program_.run("translate --model model --beam-size 4 --input valid.source --coverage-penalty 1");
  EXPECT_EQ(covered.status, GetParam().has_attention ? 0 : 2) << covered.err;
  for (const char* precision : {"float32", "bfloat16", "int8"}) {
    const std::string beam = fmt::format("translate --model model --precision {} --json --beam-size 4", precision);
    const std::vector<std::string> lines = together(beam);
    EXPECT_EQ(lines, together(beam + " --workers 2 --batch-tokens 16")) << precision;
    EXPECT_EQ(lines, alone(beam)) << precision;
    for (const std::string& line : lines) {
      const json translation = json::parse(line);
      const size_t tokens = GetParam().has_attention ? translation.at("tokens").size() : 0;
      EXPECT_EQ(translation.at("alignment").size(), tokens) << line;
    }
  }
  expect_scores_alone_as_together("model");
  const auto soft = program_.run("translate --model model --json --soft-alignment --input valid.source");
  EXPECT_EQ(soft.status, GetParam().has_attention ? 0 : 2) << soft.err;
}

TEST_P(RecurrentCommands, IsQuantizedAndInspected) {
  teach();
  output_of("quantize --model model --output small");
  EXPECT_LT(std::filesystem::file_size(path("small") / "model.safetensors"),
            std::filesystem::file_size(path("model") / "model.safetensors"));
  output_of("quantize --model model --precision bfloat16 --output half");
  const std::string scored = "translate --json";
  EXPECT_EQ(together(scored + " --model small"), together(scored + " --model model --precision int8"));
  EXPECT_EQ(together(scored + " --model half"), together(scored + " --model model --precision bfloat16"));
  for (const std::string name : {"small", "half"}) {
    expect_scores_alone_as_together(name);
    const std::string beam = scored + " --beam-size 4 --model " + name;
    EXPECT_EQ(together(beam), alone(beam));
  }
  EXPECT_NE(output_of("inspect --model model").find(GetParam().architecture), std::string::npos);
  program_.write("hypothesis", output_of("translate --model model --input valid.source"));
  EXPECT_NE(output_of("evaluate --hypothesis hypothesis --reference valid.target").find("BLEU"), std::string::npos);
}

TEST_P(RecurrentCommands, IsServed) {
  teach();
  const std::vector<std::string> written = lines_of("translate --model model --input valid.source");
  const std::vector<std::string> sources = base::split_lines(program_.read("valid.source"));
  test_support::RunningServer server(program_.folder());
  const json request = {{"q", sources}, {"source", "en"}, {"target", "de"}};
  const auto answer = server.post("/translate", request.dump());
  EXPECT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(json::parse(answer.body).at("translatedText"), json(written));
  const auto inspection = server.post("/v1/inspect", json({{"text", sources.front()}}).dump());
  EXPECT_EQ(inspection.status, 200) << inspection.body;
  EXPECT_EQ(json::parse(inspection.body).at("model").at("architecture"), GetParam().architecture);
  EXPECT_EQ(json::parse(inspection.body).at("target").at("text"), written.front());
  EXPECT_EQ(server.end(), 0);
}

}  // namespace
}  // namespace dragoman
