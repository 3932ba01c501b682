#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "support/program.h"

namespace dragoman::cli {
namespace {

using test_support::expect_failure;
using test_support::Outcome;
using test_support::Program;

class Config : public ::testing::Test {
 protected:
  Config() {
    program_.write("hyp", "The cat sat on the mat .\n");
    program_.write("ref", "the cat sat on a mat .\n");
  }

  // `dragoman evaluate` with this configuration.
  Outcome evaluate(const std::string& yaml, const std::string& flags = "") const {
    program_.write("run.yaml", yaml);
    return program_.run("evaluate --config run.yaml " + flags);
  }

  Program program_;
  const std::string files_ = "hypothesis: hyp\nreference: ref\n";
};

TEST_F(Config, GivesTheSameAsFlags) {
  const Outcome flags = program_.run("evaluate --hypothesis hyp --reference ref --metrics chrf --lowercase --width 5");
  ASSERT_EQ(flags.status, 0) << flags.err;
  const Outcome config = evaluate(files_ + "metrics: chrf\nlowercase: true\nwidth: 5\n");
  EXPECT_EQ(config.status, 0) << config.err;
  EXPECT_EQ(config.out, flags.out);
}

TEST_F(Config, TakesListsAndBothSpellingsOfAName) {
  const Outcome flags = program_.run(
      "evaluate --hypothesis hyp --reference ref --reference hyp --metrics bleu,chrf++ --smooth-method floor");
  ASSERT_EQ(flags.status, 0) << flags.err;
  for (const std::string list : {"[bleu, chrf++]", "\n  - bleu\n  - chrf++", "bleu,chrf++"}) {
    const Outcome config =
        evaluate("hypothesis: hyp\nreference: [ref, hyp]\nsmooth_method: floor\nmetrics: " + list + "\n");
    EXPECT_EQ(config.status, 0) << config.err;
    EXPECT_EQ(config.out, flags.out) << list;
  }
}

TEST_F(Config, FlagsWin) {
  const Outcome flags = program_.run("evaluate --hypothesis hyp --reference ref --metrics bleu --width 4");
  const Outcome config = evaluate(files_ + "metrics: [chrf]\nwidth: 9\n", "--metrics bleu --width 4");
  EXPECT_EQ(config.status, 0) << config.err;
  EXPECT_EQ(config.out, flags.out);
}

TEST_F(Config, AnEmptyFileChangesNothing) {
  for (const std::string yaml : {"", "# nothing\n", "---\n"}) {
    EXPECT_EQ(evaluate(yaml, "--hypothesis hyp --reference ref").status, 0) << yaml;
  }
}

TEST_F(Config, UnknownKeyNamesFileLineAndTheNearestKey) {
  expect_failure(evaluate(files_ + "metrix: bleu\n"), 2, {"run.yaml: line 3", "\"metrix\"", "\"metrics\""});
  expect_failure(evaluate(files_ + "smoth_value: 1\n"), 2, {"\"smooth-value\""});
  expect_failure(evaluate("config: other.yaml\n"), 2, {"unknown key \"config\""});
}

TEST_F(Config, RefusesWhatIsNoValue) {
  expect_failure(evaluate(files_ + "width: 2\nwidth: 3\n"), 2, {"run.yaml: line 4", "second time"});
  expect_failure(evaluate(files_ + "width:\n"), 2, {"line 3", "needs a value"});
  expect_failure(evaluate(files_ + "width: {a: 1}\n"), 2, {"line 3", "needs a value"});
  expect_failure(evaluate(files_ + "width: [1, 2]\n"), 2, {"line 3", "takes 1 value"});
  expect_failure(evaluate(files_ + "metrics: [[bleu]]\n"), 2, {"line 3", "nested"});
  expect_failure(evaluate(files_ + "lowercase: perhaps\n"), 2, {"line 3", "true or false"});
  expect_failure(evaluate(files_ + "width: two\n"), 2, {"line 3: width is \"two\", must be a whole number"});
  expect_failure(evaluate(files_ + "tokenize: 13b\n"), 2, {"line 3: tokenize is \"13b\", must be 13a, intl"});
  expect_failure(evaluate("[hypothesis, ref]\n"), 2, {"run.yaml", "option: value"});
  expect_failure(evaluate("? [a]\n: b\n"), 2, {"line 1", "name of an option"});
}

TEST_F(Config, RefusesBadYaml) {
  expect_failure(evaluate("metrics:\n\t- bleu\n"), 2, {"run.yaml: line 2", "not valid YAML"});
  expect_failure(evaluate("width: {\n"), 2, {"run.yaml", "not valid YAML"});
  expect_failure(evaluate("hypothesis: hyp\n  reference: ref\n"), 2, {"run.yaml: line 2", "not valid YAML"});
  expect_failure(evaluate(std::string(100'000, '[')), 2, {"run.yaml"});
  expect_failure(evaluate(std::string(100'000, '{')), 2, {"run.yaml"});
  expect_failure(evaluate(std::string(3'000'000, '#')), 2, {"run.yaml"});
  expect_failure(evaluate(std::string("hypo\0thesis: a\n", 15)), 2, {"run.yaml"});
  expect_failure(evaluate("hypothesis: *nothing\n"), 2, {"run.yaml", "not valid YAML"});
}

// What a user can turn to fit a small corpus.
TEST_F(Config, LeversOfTrainingGoIntoTheRecipeFromFileAndFlags) {
  std::string text;
  for (int line = 0; line < 60; ++line) {
    text += fmt::format("{} {} {}\n", line % 7, line % 5, line % 3);
  }
  program_.write("text", text);
  const std::vector<std::array<std::string, 3>> levers = {
      {"dropout", "0.25", "\"dropout\": 0.25"},
      {"attention-dropout", "0.125", "\"attention_dropout\": 0.125"},
      {"activation-dropout", "0.5", "\"activation_dropout\": 0.5"},
      {"source-word-dropout", "0.0625", "\"source_word_dropout\": 0.0625"},
      {"target-word-dropout", "0.375", "\"target_word_dropout\": 0.375"},
      {"label-smoothing", "0.2", "\"label_smoothing\": 0.2"},
      {"rdrop", "3", "\"rdrop\": 3.0"},
      {"subword-sampling", "0.3", "\"subword_sampling\": 0.3"},
      {"ema-decay", "0.9", "\"ema_decay\": 0.9"},
      {"norm-order", "pre", "\"norm_order\": \"pre\""},
      {"learning-rate", "0.002", "\"learning_rate\": 0.002"},
      {"vocab-size", "20", "\"vocabulary_size\": 20"},
      {"vocab-lines", "50", "\"vocabulary_lines\": 50"},
      {"normalization", "nfkc", "\"normalization\": \"nfkc\""}};
  std::string yaml, flags;
  for (const auto& [name, value, recipe] : levers) {
    yaml += name + ": " + value + "\n";
    flags += " --" + name + " " + value;
  }
  program_.write("levers.yaml", yaml);
  const std::string fixed = " --source text --target text --d-model 8 --d-ff 8 --n-heads 1 --max-steps 1 --workers 1";
  for (const std::string& command :
       {std::string("--model from_file --config levers.yaml"), "--model from_flags" + flags}) {
    const Outcome outcome = program_.run("train " + command + fixed);
    ASSERT_EQ(outcome.status, 0) << outcome.err;
  }
  const std::string recipe = program_.read("from_file/checkpoints/step-1/recipe.json");
  EXPECT_EQ(recipe, program_.read("from_flags/checkpoints/step-1/recipe.json"));
  for (const auto& [name, value, line] : levers) {
    EXPECT_NE(recipe.find(line), std::string::npos) << "--" << name << " " << value << " is not in " << recipe;
  }
}

TEST_F(Config, RefusesFilesThatCannotBeRead) {
  expect_failure(program_.run("evaluate --config missing.yaml"), 2, {"--config", "missing.yaml", "No such file"});
  expect_failure(program_.run("evaluate --config ."), 2, {"--config", "is a directory"});
}

}  // namespace
}  // namespace dragoman::cli
