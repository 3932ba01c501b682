// Every command with recurrent and convolutional models, batch norms and other sub-layers of decoders: what
// tests/integration/second_architecture_test.cpp asks of any architecture.
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

TEST_P(RecurrentCommands, TranslatesWithTheSameBytesAloneAndInABatch) {
  train("model", kSteps);
  const Outcome covered =
      program_.run("translate --model model --beam-size 4 --input valid.source --coverage-penalty 1");
  EXPECT_EQ(covered.status, GetParam().has_attention ? 0 : 2) << covered.err;
  const std::string beam = "translate --model model --beam-size 4";
  const std::string together = output_of(beam + " --input valid.source");
  EXPECT_EQ(std::ranges::count(together, '\n'), 8);
  EXPECT_EQ(together, output_of(beam + " --input valid.source --workers 2 --batch-tokens 16"));
  EXPECT_EQ(together, alone(beam));
  const std::string lines = output_of(beam + " --json --input valid.source");
  for (const std::string& line : base::split_lines(lines)) {
    const json translation = json::parse(line);
    const size_t tokens = GetParam().has_attention ? translation.at("tokens").size() : 0;
    EXPECT_EQ(translation.at("alignment").size(), tokens) << line;
  }
  const auto soft = program_.run(beam + " --json --soft-alignment --input valid.source");
  EXPECT_EQ(soft.status, GetParam().has_attention ? 0 : 2) << soft.err;
}

TEST_P(RecurrentCommands, ScoresAndIsQuantizedAndInspected) {
  train("model", kSteps);
  const std::string scores = output_of("score --model model --source valid.source --target valid.target");
  EXPECT_EQ(base::split_lines(scores).size(), 8U);
  for (const std::string& score : base::split_lines(scores)) {
    EXPECT_LT(std::stod(score), 0.0);
  }
  output_of("quantize --model model --output small");
  EXPECT_LT(std::filesystem::file_size(path("small") / "model.safetensors"),
            std::filesystem::file_size(path("model") / "model.safetensors"));
  output_of("quantize --model model --precision bfloat16 --output half");
  const std::string scored = "translate --json --input valid.source";
  EXPECT_EQ(output_of(scored + " --model small"), output_of(scored + " --model model --precision int8"));
  EXPECT_EQ(output_of(scored + " --model half"), output_of(scored + " --model model --precision bfloat16"));
  const std::string small = "translate --model small --beam-size 4";
  EXPECT_EQ(output_of(small + " --input valid.source"), alone(small));
  EXPECT_NE(output_of("inspect --model model").find(GetParam().architecture), std::string::npos);
  program_.write("hypothesis", output_of("translate --model model --input valid.source"));
  EXPECT_NE(output_of("evaluate --hypothesis hypothesis --reference valid.target").find("BLEU"), std::string::npos);
}

TEST_P(RecurrentCommands, IsServed) {
  train("model", kSteps);
  test_support::RunningServer server(program_.folder());
  const auto answer = server.post("/translate", R"({"q": "3 1 4", "source": "en", "target": "de"})");
  EXPECT_EQ(answer.status, 200) << answer.body;
  EXPECT_TRUE(json::parse(answer.body).at("translatedText").is_string());
  const auto inspection = server.post("/v1/inspect", R"({"text": "3 1 4"})");
  EXPECT_EQ(inspection.status, 200) << inspection.body;
  EXPECT_EQ(json::parse(inspection.body).at("model").at("architecture"), GetParam().architecture);
  EXPECT_EQ(server.end(), 0);
}

}  // namespace
}  // namespace dragoman
