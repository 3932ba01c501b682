// A program that brings an architecture of its own (tests/second_architecture/) has every command for it: the row in
// the table of architectures is all that it adds.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/utf8.h"
#include "support/running_server.h"
#include "support/training_runs.h"

namespace dragoman {
namespace {

using nlohmann::json;
using test_support::Outcome;

constexpr int64_t kSteps = 30;
constexpr const char* kShape =
    R"({"architecture": "bag-of-words", "d_model": 32, "d_ff": 64, "n_heads": 2, "max_positions": 256})";

class SecondArchitecture : public test_support::TrainingRuns {
 protected:
  SecondArchitecture() { program_.write("bag.json", kShape); }

  static std::vector<std::string> bag_command(const std::string& model, int64_t steps,
                                              const std::map<std::string, std::string>& changes = {}) {
    std::map<std::string, std::string> options = {{"model-config", "bag.json"}, {"validate-every", "10"}};
    options.insert(changes.begin(), changes.end());
    std::vector<std::string> words = command(model, steps, options);
    for (const char* option : {"--encoder-layers", "--decoder-layers", "--d-model", "--d-ff", "--n-heads"}) {
      const auto at = std::ranges::find(words, option);  // the file says them
      words.erase(at, at + 2);
    }
    return words;
  }
  void train(const std::string& model, int64_t steps) const { TrainingRuns::train(bag_command(model, steps)); }

  std::string output_of(const std::string& words) const {
    const Outcome outcome = program_.run(words);
    EXPECT_EQ(outcome.status, 0) << words << ": " << outcome.err;
    return outcome.out;
  }
  // What a command prints for each line of the validation text when it gets that line alone.
  std::string alone(const std::string& words) const {
    std::string outputs;
    for (const std::string& line : base::split_lines(program_.read("valid.source"))) {
      program_.write("line", line + "\n");
      outputs += output_of(words + " --input line");
    }
    return outputs;
  }
};

TEST_F(SecondArchitecture, ResumedIsNeverStopped) {
  train("whole", kSteps);
  train("halves", kSteps / 2);
  train("halves", kSteps);
  expect_same_run("halves", "whole", kSteps);
}

TEST_F(SecondArchitecture, LearnsAndIsValidated) {
  TrainingRuns::train(
      bag_command("model", kSteps, {{"valid-source", "valid.source"}, {"valid-target", "valid.target"}}));
  const report::MetricsHistory metrics = report::read_metrics(path("model") / "metrics.jsonl");
  ASSERT_EQ(metrics.validation.size(), static_cast<size_t>(kSteps / 10));
  EXPECT_LT(metrics.validation.back().loss, metrics.validation.front().loss);
  EXPECT_TRUE(std::isfinite(metrics.validation.back().bleu));
}

TEST_F(SecondArchitecture, TranslatesWithTheSameBytesAloneAndInABatch) {
  train("model", kSteps);
  const std::string beam = "translate --model model --beam-size 4";
  const std::string together = output_of(beam + " --input valid.source");
  EXPECT_EQ(std::ranges::count(together, '\n'), 8);
  EXPECT_EQ(together, output_of(beam + " --input valid.source --workers 2 --batch-tokens 16"));
  EXPECT_EQ(together, alone(beam));
  const std::string line = output_of(beam + " --json --input valid.source");
  const json first = json::parse(line.substr(0, line.find('\n')));
  EXPECT_TRUE(first.dump().find("alignment") != std::string::npos) << first.dump();
}

TEST_F(SecondArchitecture, ScoresAndIsQuantizedAndInspected) {
  train("model", kSteps);
  const std::string scores = output_of("score --model model --source valid.source --target valid.target");
  EXPECT_EQ(base::split_lines(scores).size(), 8U);
  for (const std::string& score : base::split_lines(scores)) {
    EXPECT_LT(std::stod(score), 0.0);
  }
  output_of("quantize --model model --output small");
  EXPECT_LT(std::filesystem::file_size(path("small") / "model.safetensors"),
            std::filesystem::file_size(path("model") / "model.safetensors"));
  const std::string small = "translate --model small --beam-size 4";
  EXPECT_EQ(output_of(small + " --input valid.source"), alone(small));
  EXPECT_NE(output_of("inspect --model model").find("bag-of-words"), std::string::npos);
}

TEST_F(SecondArchitecture, IsServed) {
  train("model", kSteps);
  test_support::RunningServer server(program_.folder());
  const auto answer = server.post("/translate", R"({"q": "3 1 4", "source": "en", "target": "de"})");
  EXPECT_EQ(answer.status, 200) << answer.body;
  EXPECT_TRUE(json::parse(answer.body).at("translatedText").is_string());
  const auto inspection = server.post("/v1/inspect", R"({"text": "3 1 4"})");
  EXPECT_EQ(inspection.status, 200) << inspection.body;
  EXPECT_EQ(json::parse(inspection.body).at("model").at("architecture"), "bag-of-words");
  EXPECT_EQ(server.end(), 0);
}

}  // namespace
}  // namespace dragoman
