// The commands generate and score --text as programs, on a model folder with random weights.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "data/chat/chat_template.h"
#include "decoding/load_model.h"
#include "models/model_folder.h"
#include "models/model_tensors.h"
#include "support/program.h"
#include "tiny_language_model.h"

namespace dragoman::decoding {
namespace {

using nlohmann::json;
using test_support::expect_failure;
using test_support::Outcome;
using testing::HasSubstr;

class GenerateCommand : public testing::Test {
 protected:
  GenerateCommand() {
    const auto model = tiny_language_model();
    models::publish_model_folder(program_.folder() / "model",
                                 {.config = models::to_json(model->config()),
                                  .tensors = models::named_tensors(model->parameters()),
                                  .vocabularies = {{"tokenizer.json", letters().bytes()}}});
  }
  Outcome generate(const std::string& options) const { return program_.run("generate --model model " + options); }

  static std::vector<json> lines_of(const std::string& text) {
    std::vector<json> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) {
      lines.push_back(json::parse(line));
    }
    return lines;
  }

  test_support::Program program_;
};

TEST_F(GenerateCommand, APromptIsPrintedAndGoesOn) {
  const Outcome outcome = generate("--prompt 'the cat' --max-tokens 12 --temperature 0");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const auto generator = load_generator(program_.folder() / "model");
  GenerationOptions options;
  options.max_tokens = 12;
  options.search.sampling = {};
  const GenerationRequest request{.prompt = "the cat"};
  EXPECT_EQ(outcome.out, "the cat" + generator->generate({&request, 1}, options).front().text + "\n");
  EXPECT_THAT(outcome.err, HasSubstr("tokens/s"));
}

TEST_F(GenerateCommand, ARefusedPromptIsNotPrinted) {
  const Outcome refused = generate("--prompt '" + std::string(48, 'a') + "'");
  EXPECT_EQ(refused.status, 2);
  EXPECT_EQ(refused.out, "");
}

TEST_F(GenerateCommand, FilesPipesAndJsonSayTheSame) {
  program_.write("in", "the cat\n\nzz\n");
  const Outcome file = generate("--input in --max-tokens 10");
  ASSERT_EQ(file.status, 0) << file.err;
  EXPECT_EQ(std::ranges::count(file.out, '\n'), 3);
  EXPECT_EQ(generate("--max-tokens 10 < in").out, file.out);
  EXPECT_EQ(generate("--input in --max-tokens 10 --workers 1").out, file.out);
  const std::vector<json> lines = lines_of(generate("--input in --max-tokens 10 --json --scores").out);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0]["prompt"], "the cat");
  EXPECT_EQ(lines[0]["prompt_tokens"], 7);
  double sum = 0.0;
  for (const json& score : lines[0]["token_scores"]) {
    sum += score.get<double>();
  }
  EXPECT_NEAR(lines[0]["score"].get<double>(), sum, 1e-4);
}

TEST_F(GenerateCommand, TheContextSlidesWhereItIsAskedTo) {
  // So hot that the end is as likely as any letter: some of the samples are longer than the context.
  const std::string flags = "--prompt abc --max-tokens 100 --json --temperature 20 --top-p 1 --samples 60";
  const auto longest = [&](const std::string& more) {
    const Outcome outcome = generate(flags + more);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    size_t most = 0;
    for (const json& line : lines_of(outcome.out)) {
      most = std::max(most, line["ids"].size());
    }
    return most;
  };
  EXPECT_LE(longest(""), 45U);
  EXPECT_GT(longest(" --context-shift --context-keep 3"), 45U);
  expect_failure(generate("--prompt a --context-keep 3"), 2, {"--context-keep is 3, but nothing leaves the context"});
  expect_failure(generate("--prompt a --context-shift --context-keep 46"), 2,
                 {"--context-keep is 46, must be 45 or less"});
}

TEST_F(GenerateCommand, SamplesOfAPromptAreThoseOfJson) {
  const std::string flags = "--prompt abc --max-tokens 10 --samples 3 --seed 7";
  std::string expected;
  for (const json& sample : lines_of(generate(flags + " --json").out)) {
    expected += (expected.empty() ? "abc" : "---\nabc") + sample["text"].get<std::string>() + "\n";
  }
  EXPECT_EQ(generate(flags).out, expected);
}

TEST_F(GenerateCommand, SamplesAreNumberedAndTheSeedRepeatsThem) {
  const std::string flags = "--prompt abc --max-tokens 10 --samples 3 --json --seed 7";
  const std::vector<json> samples = lines_of(generate(flags).out);
  ASSERT_EQ(samples.size(), 3U);
  EXPECT_EQ(samples[2]["sample"], 3);
  EXPECT_NE(samples[0]["text"], samples[1]["text"]);
  EXPECT_EQ(lines_of(generate(flags).out), samples);
}

TEST_F(GenerateCommand, WrongOptionsAndPromptsAreNamed) {
  expect_failure(generate("--prompt a --max-tokens 0"), 2, {"--max-tokens"});
  expect_failure(generate("--prompt a --beam-size 4 --temperature 1"), 2, {"beam", "temperature"});
  expect_failure(generate("--prompt a --temperature 0 --samples 2"), 2, {"samples is 2"});
  expect_failure(generate("--prompt " + std::string(60, 'a')), 2, {"60 tokens", "takes 48"});
  expect_failure(generate("--prompt U"), 65, {"U+0055"});
  program_.write("in", "good\nU\n");
  const Outcome mixed = generate("--input in --max-tokens 5");
  EXPECT_EQ(mixed.status, 1);
  EXPECT_THAT(mixed.err, HasSubstr("line 2 is not continued"));
  expect_failure(program_.run("translate --model model --input in"), 2, {"use dragoman generate"});
}

TEST_F(GenerateCommand, AChatKeepsItsMessagesUntilTheContextIsFull) {
  const auto model = tiny_language_model(1, 64);
  models::ModelFiles files{.config = models::to_json(model->config()),
                           .tensors = models::named_tensors(model->parameters()),
                           .vocabularies = {{"tokenizer.json", letters().bytes()}}};
  const data::ChatFile chat{"{% for m in messages %}{{ m.role }} {{ m.content }}\n{% endfor %}bot ", {}};
  files.chat = data::chat_file_json(chat);
  models::publish_model_folder(program_.folder() / "talker", files);
  const std::string command = "generate --model talker --chat --system x --temperature 0 --max-tokens 4";
  program_.write("in", "ab\n5\ncd\nefghij\n");  // there is no 5 in the vocabulary
  const Outcome outcome = program_.run(command + " < in");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err, HasSubstr("U+0035 is not in the vocabulary"));
  EXPECT_THAT(outcome.err, HasSubstr("the model takes 64, the answer counted; it begins anew"));
  const auto generator = load_generator(program_.folder() / "talker");
  GenerationOptions options;
  options.max_tokens = 4;
  options.search.sampling = {};
  const auto answer = [&](const std::string& conversation) {
    const GenerationRequest request{.prompt = conversation + "bot "};
    return generator->generate({&request, 1}, options).front().text;
  };
  const std::string first = answer("system x\nuser ab\n");
  const std::string second = answer("system x\nuser ab\nassistant " + first + "\nuser cd\n");
  const std::string third = answer("system x\nuser efghij\n");
  EXPECT_EQ(outcome.out, first + "\n" + second + "\n" + third + "\n");
  expect_failure(program_.run("generate --model model --chat --prompt a"), 2,
                 {"has no chat template; leave out --chat"});
  expect_failure(program_.run("generate --model talker --chat --json --prompt a"), 2,
                 {"writes one answer to each message"});
}

TEST_F(GenerateCommand, ScoreSaysLossPerplexityAndTheWindow) {
  program_.write("text", "the quick brown fox jumps over the lazy dog. the end.\n");
  const Outcome outcome = program_.run("score --model model --text text --window 16 --output scores");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("window 16  stride 8"));
  EXPECT_THAT(outcome.err, HasSubstr("perplexity"));
  EXPECT_EQ(std::ranges::count(program_.read("scores"), '\n'), 55);  // <|endoftext|>, then 54 characters and the end
  expect_failure(program_.run("score --model model --text text --window 100"), 2,
                 {"window is 100, the model takes 48"});
  expect_failure(program_.run("score --model model --text text --source text"), 2, {"--text for a language model"});
  expect_failure(program_.run("score --model model --text text --batch-statistics 2"), 2,
                 {"--batch-statistics goes with --source and --target"});
  expect_failure(program_.run("score --model model --source text --target text --padded-statistics true"), 2,
                 {"--padded-statistics goes with --batch-statistics"});
}

}  // namespace
}  // namespace dragoman::decoding
