// The commands train, classify, tag, fill-mask, evaluate and info of encoders, as programs.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "support/program.h"

namespace dragoman {
namespace {

using nlohmann::json;
using test_support::expect_failure;
using test_support::Outcome;

class EncoderCommands : public testing::Test {
 protected:
  EncoderCommands() {
    std::string classes, tags, plain;
    for (int line = 0; line < 60; ++line) {
      const std::string animal = line % 3 == 0 ? "cat" : "dog";
      const bool is_night = line % 2 == 0;
      const std::string sentence = fmt::format("the {} sleeps at {}", animal, is_night ? "night" : "noon");
      classes += fmt::format("{}\t{}\n", is_night ? "1" : "0", sentence);
      tags += fmt::format("the\tO\n{}\tB-X\nsleeps\tI-X\n\n", animal);
      plain += sentence + "\n";
    }
    program_.write("classes.tsv", classes);
    program_.write("tags.tsv", tags);
    program_.write("plain.txt", plain);
  }

  Outcome train(const std::string& task, const std::string& text, const std::string& more = "") const {
    const std::string shape =
        more.empty() ? "--layers 1 --d-model 32 --d-ff 32 --n-heads 2 --max-positions 32 --vocab-size 80" : more;
    return program_.run(fmt::format(
        "train --preset bert-mini --task {0} --text {1} --valid-text {1} --model {0} --max-length 32 "
        "--batch-tokens 128 --learning-rate 5e-3 --warmup-steps 10 --max-steps 80 --validate-every 40 --quiet {2}",
        task, text, shape));
  }

  test_support::Program program_;
};

TEST_F(EncoderCommands, ATextIsClassifiedAndTheAnswerScored) {
  Outcome outcome = train("classify", "classes.tsv");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  program_.write("in", "the cat sleeps at night\nthe dog sleeps at noon\n");
  outcome = program_.run("classify --model classify --input in");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out.substr(0, 2), "1\t");
  EXPECT_NE(outcome.out.find("\n0\t"), std::string::npos) << outcome.out;
  outcome = program_.run("classify --model classify --input in --json");
  const json first = json::parse(outcome.out.substr(0, outcome.out.find('\n')));
  EXPECT_EQ(first["label"], "1");
  EXPECT_NEAR(first["probabilities"]["0"].get<double>() + first["probabilities"]["1"].get<double>(), 1.0, 1e-6);
  program_.write("right", "1\tthe cat sleeps at night\n0\tthe dog sleeps at noon\n");
  program_.write("said", program_.run("classify --model classify --input in").out);
  outcome = program_.run("evaluate --metrics accuracy,f1,macro-f1,mcc --hypothesis said --reference right");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("100.00"), std::string::npos) << outcome.out;
  outcome = program_.run("classify --model classify --columns --input right");
  EXPECT_EQ(outcome.out, program_.read("said")) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  outcome = program_.run("classify --model classify --input right");
  EXPECT_NE(outcome.err.find("the first text of each pair is a label of the model; --columns"), std::string::npos);
  program_.write("bad", "1\tthe cat\nthe cat\n");
  expect_failure(program_.run("classify --model classify --columns --input bad"), 65, {"bad:2: has 1 column"});
  program_.write("bad", "the cat\t\n");
  expect_failure(program_.run("classify --model classify --input bad"), 65, {"bad:1: the second text is empty"});
  program_.write("bad", "the cat\tthe dog\nthe cat\n");
  expect_failure(program_.run("classify --model classify --input bad"), 65,
                 {"bad:2: has one text, the lines before have two; give pairs on all lines or on none"});
  program_.write("bad", "the cat\nthe cat\tthe dog\n");
  expect_failure(program_.run("classify --model classify --input bad"), 65, {"bad:2: has two texts"});
  expect_failure(program_.run("tag --model classify --input in"), 2, {"head classes", "tag needs tags"});
  expect_failure(program_.run("fill-mask --model classify --input in"), 2, {"--task masked-language-model"});
  for (const char* format : {"hf-marian", "hf-t5", "hf-m2m100", "hf-mbart", "hf-bart"}) {
    expect_failure(program_.run(fmt::format("export --to {} other --model classify", format)), 65,
                   {"classify/config.json: architecture is \"encoder-only\", must be \"transformer\""});
  }
  EXPECT_EQ(json::parse(program_.run("inspect --model classify --json").out)["labels"]["labels"], json({"0", "1"}));
}

TEST_F(EncoderCommands, WordsAreTaggedInLinesAndInColumns) {
  Outcome outcome = train("tag", "tags.tsv");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  program_.write("in", "the cat sleeps\n\nthe dog\n");
  outcome = program_.run("tag --model tag --input in");
  EXPECT_EQ(outcome.out, "O B-X I-X\n\nO B-X\n") << outcome.err;
  outcome = program_.run("tag --model tag --input tags.tsv --columns --output said.tsv");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  outcome = program_.run("evaluate --metrics span-f1,tag-accuracy --hypothesis said.tsv --reference tags.tsv");
  EXPECT_NE(outcome.out.find("span-F1"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.out.find("100.00"), std::string::npos) << outcome.out;
  std::string blanks = program_.read("tags.tsv");
  std::ranges::replace(blanks, '\t', ' ');
  program_.write("conll.txt", blanks);
  outcome = program_.run("evaluate --metrics span-f1 --hypothesis said.tsv --reference conll.txt");
  EXPECT_NE(outcome.out.find("100.00"), std::string::npos) << outcome.out << outcome.err;
  outcome = program_.run("tag --model tag --input in --json");
  EXPECT_EQ(json::parse(outcome.out.substr(0, outcome.out.find('\n')))["tags"].size(), 3U);
}

TEST_F(EncoderCommands, MasksAreFilledAndTheEncoderIsFineTuned) {
  Outcome outcome = train("masked-language-model", "plain.txt");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  program_.write("in", "[MASK] cat sleeps\n");
  outcome = program_.run("fill-mask --model masked-language-model --input in --candidates 2");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out.substr(0, 4), "the ") << outcome.out;
  program_.write("bad", "the cat\n");
  expect_failure(program_.run("fill-mask --model masked-language-model --input bad"), 65,
                 {"bad:1: has no [MASK]; write it in place"});
  std::string many;
  for (int line = 0; line < 4200; ++line) {
    many += line == 4150 ? "the cat\n" : "[MASK] cat\n";
  }
  program_.write("bad", many);
  expect_failure(program_.run("fill-mask --model masked-language-model --input bad"), 65, {"bad:4151: has no [MASK]"});
  std::string cats;
  for (int i = 0; i < 40; ++i) {
    cats += " the cat sleeps";
  }
  program_.write("long", "[MASK] cat sleeps" + cats + " [MASK]\n[MASK] cat\n");
  outcome = program_.run("fill-mask --model masked-language-model --input long --json");
  EXPECT_NE(outcome.err.find("1 of 2 texts are longer than the model takes (32 tokens) and lost their end\n"),
            std::string::npos)
      << outcome.err;
  EXPECT_EQ(json::parse(outcome.out.substr(0, outcome.out.find('\n')))["masks"].size(), 1U);
  program_.write("bad", cats + " [MASK]\n");
  expect_failure(program_.run("fill-mask --model masked-language-model --input bad"), 65,
                 {"bad:1: has no [MASK] in the part that the model can take"});
  outcome = train("classify", "classes.tsv", "--initial-model masked-language-model");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
}

TEST_F(EncoderCommands, VectorsAreLearnedFromPairsAndScored) {
  std::string pairs, scored;
  const char* const animals[] = {"cat", "dog", "hen", "cow", "owl", "fox"};
  for (int line = 0; line < 36; ++line) {
    const std::string left = fmt::format("the {} sees a {}", animals[line / 6], animals[line % 6]);
    pairs += fmt::format("{}\ta {} is seen by the {}\n", left, animals[line % 6], animals[line / 6]);
    scored += fmt::format("{}\t{}\n", left, line);
  }
  program_.write("pairs.tsv", pairs);
  Outcome outcome = train("embed", "pairs.tsv",
                          "--layers 1 --d-model 32 --d-ff 32 --n-heads 2 --max-positions 32 "
                          "--vocab-size 60 --group-pairs 12 --text-pooling mean");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  for (const char* side : {"1", "2"}) {
    std::string texts;
    std::istringstream lines(pairs);
    for (std::string line; std::getline(lines, line);) {
      texts += (side[0] == '1' ? line.substr(0, line.find('\t')) : line.substr(line.find('\t') + 1)) + "\n";
    }
    program_.write("texts", texts);
    outcome = program_.run(fmt::format("embed --model embed --input texts --output vectors{}", side));
    ASSERT_EQ(outcome.status, 0) << outcome.err;
  }
  outcome =
      program_.run("evaluate --metrics recall-at-1,mrr --hypothesis vectors1 --reference vectors2 --json --width 4");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json scores = json::parse(outcome.out);
  EXPECT_GT(scores[1]["score"].get<double>(), 40.0) << "36 texts guessed at have an MRR of 11.6";
  program_.write("said", program_.run("embed --model embed --similarity --input pairs.tsv").out);
  program_.write("scores.tsv", scored);
  outcome = program_.run("evaluate --metrics spearman --hypothesis said --reference scores.tsv");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("Spearman"), std::string::npos);
  expect_failure(program_.run("classify --model embed --input pairs.tsv"), 2, {"head none"});
  expect_failure(program_.run("evaluate --metrics mrr,bleu --hypothesis said --reference said"), 2, {"give one kind"});
}

TEST_F(EncoderCommands, LongTextsAreReadInWindows) {
  Outcome outcome = train("classify", "classes.tsv");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  std::string noon, cats;
  for (int i = 0; i < 40; ++i) {
    noon += "noon ";
    cats += "the cat sleeps ";
  }
  program_.write("in", "the cat sleeps at night " + noon + "\n");
  outcome = program_.run("classify --model classify --input in");
  EXPECT_NE(outcome.err.find("1 of 1 texts are longer"), std::string::npos) << outcome.err;
  outcome = program_.run("classify --model classify --input in --stride 6");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.err.find("longer"), std::string::npos) << outcome.err;
  expect_failure(program_.run("classify --model classify --input in --stride 30"), 2,
                 {"stride is 30, must be below 30"});
  ASSERT_EQ(train("tag", "tags.tsv").status, 0);
  program_.write("in", cats + "\n");
  const std::string apart = program_.run("tag --model tag --input in").out;
  outcome = program_.run("tag --model tag --input in --stride 9");
  EXPECT_EQ(std::ranges::count(outcome.out, ' '), 119) << outcome.err;
  EXPECT_EQ(outcome.out.substr(0, 9), "O B-X I-X") << outcome.out;
  EXPECT_EQ(apart.size(), outcome.out.size());
}

}  // namespace
}  // namespace dragoman
