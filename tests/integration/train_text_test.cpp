#include <gmock/gmock.h>

#include <algorithm>

#include "base/utf8.h"
#include "decoding/tiny_language_model.h"
#include "support/training_runs.h"

namespace dragoman {
namespace {

using test_support::BackgroundProgram;
using test_support::Outcome;
using Changes = std::map<std::string, std::string>;

std::string repeated(const std::string& word, int times) {
  std::string line;
  for (int i = 0; i < times; ++i) {
    line += word;
  }
  return line;
}

std::vector<std::string> lines_of(const std::string& text) {
  return base::split_lines(text);
}

// What text from the world holds and what must not shift one line against another.
class TrainText : public test_support::TrainingRuns {
 protected:
  static std::string joined(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) {
      text += line + "\n";
    }
    return text;
  }

  void write_odd_texts() {
    std::vector<std::string> source = lines_of(program_.read("train.source"));
    std::vector<std::string> target = lines_of(program_.read("train.target"));
    source[3] += " \xff\xfe";
    target[4].insert(0, 1, '\0');
    source[5] += "\r";
    target[5] += "\r";
    source[6] += " \u2028 7";
    target[7] += "\v\f";
    source[8] += " \u0085 1 \u2029 2";
    source[9] = "";
    target[10] = "   ";
    source[20] = repeated("1 ", 100'000);
    target[22] = repeated("4 ", 400);
    program_.write("odd.source", joined(source));
    program_.write("odd.target", joined(target));
  }
};

TEST_F(TrainText, OddLinesAreTrainedOnOrCountedAndNeverShiftOthers) {
  write_odd_texts();
  BackgroundProgram run(program_.folder(), command("model", 5, {{"source", "odd.source"}, {"target", "odd.target"}}));
  EXPECT_EQ(run.wait(), 0) << run.errors();
  for (const std::string words :
       {"300 pairs of lines read, 296 kept, 4 dropped", "1 dropped: source empty (first: odd.source:10)",
        "1 dropped: target empty (first: odd.source:11)", "1 dropped: source too long (first: odd.source:21)",
        "1 dropped: target too long (first: odd.source:23)",
        "1 source and 1 target lines held invalid UTF-8 or NUL and were repaired"}) {
    EXPECT_NE(run.errors().find(words), std::string::npos) << "expected '" << words << "' in: " << run.errors();
  }
}

TEST_F(TrainText, ACorpusThatDoesNotFitInMemoryTrainsTheSameModel) {
  train(command("cached", 60));
  train(command("read_again", 60, {{"cache-megabytes", "0"}}));
  expect_same_run("read_again", "cached", 60);
}

// Words of a command without an option and its value.
std::vector<std::string> without(std::vector<std::string> words, const std::string& option) {
  const auto found = std::ranges::find(words, option);
  words.erase(found, found + 2);
  return words;
}

TEST_F(TrainText, AGivenTokenizerIsTheOneThatIsLearned) {
  const auto made = [&](const std::string& inputs, const std::string& name) {
    const auto outcome = program_.run("vocab " + inputs + " --size 20 --output " + name);
    ASSERT_EQ(outcome.status, 0) << outcome.err;
  };
  made("--input train.source --input train.target", "both.spm");
  made("--input train.source", "source.spm");
  made("--input train.target", "target.spm");
  train(command("learned", 3));
  train(without(command("given", 3, {{"tokenizer", "both.spm"}}), "--vocab-size"));
  expect_same_run("given", "learned", 3);
  const Changes separate = {{"joint-vocab", "false"}, {"tying", "target"}};
  train(command("two-learned", 3, separate));
  Changes two = separate;
  two.insert({{"tokenizer", "source.spm"}, {"target-tokenizer", "target.spm"}});
  train(without(command("two-given", 3, two), "--vocab-size"));
  expect_same_run("two-given", "two-learned", 3);
}

TEST_F(TrainText, ATokenizerThatCannotBeUsedIsRefused) {
  program_.write("letters.json", decoding::letters().bytes());
  const auto refused = [&](const Changes& changes, int status, const std::string& text) {
    BackgroundProgram run(program_.folder(), without(command("model", 3, changes), "--vocab-size"));
    EXPECT_EQ(run.wait(), status) << run.errors();
    EXPECT_THAT(run.errors(), testing::HasSubstr(text));
    EXPECT_FALSE(std::filesystem::exists(path("model") / "model.safetensors"));
  };
  refused({{"tokenizer", "absent.spm"}}, 65, "absent.spm");
  refused({{"tokenizer", "train.source"}}, 65, "train.source");
  refused({{"tokenizer", "letters.json"}}, 2, "letters.json: a translation model that starts from nothing takes");
  refused({{"target-tokenizer", "both.spm"}}, 2, "--target-tokenizer");
  refused({{"tokenizer", "both.spm"}, {"joint-vocab", "false"}, {"tying", "target"}}, 2, "--target-tokenizer");
}

TEST_F(TrainText, TheBestOrLastCheckpointsAreAveraged) {
  train(command("model", 6,
                {{"valid-source", "valid.source"},
                 {"valid-target", "valid.target"},
                 {"metric", "loss"},
                 {"learning-rate", "3e-2"},
                 {"keep-last", "6"}}));
  std::map<double, std::string> by_loss;
  for (const report::ValidationRow& row : report::read_metrics(path("model") / "metrics.jsonl").validation) {
    by_loss[row.loss] = "model/checkpoints/step-" + std::to_string(row.step);
  }
  ASSERT_EQ(by_loss.size(), 6U);
  const std::string best = by_loss.begin()->second + " " + std::next(by_loss.begin())->second;
  const std::string last = "model/checkpoints/step-5 model/checkpoints/step-6";
  const auto averaged = [&](const std::string& words) {
    const Outcome outcome = program_.run("average --output averaged " + words);
    EXPECT_EQ(outcome.status, 0) << words << ": " << outcome.err;
    return program_.read("averaged/model.safetensors");
  };
  EXPECT_EQ(averaged("--input model --best 2"), averaged("--input " + best));
  EXPECT_EQ(averaged("--input model --last 2"), averaged("--input " + last));
  test_support::expect_failure(program_.run("average --input model --best 7 --output x"), 65,
                               {"model: has 6 validated checkpoints, --best asks for 7"});
  test_support::expect_failure(program_.run("average --input model --best 1 --last 1 --output x"), 2, {"choose one"});
  test_support::expect_failure(program_.run("average --input model --last -1 --output x"), 2, {"last is -1"});
}

TEST_F(TrainText, EveryLineGivesOneLineWhateverItHolds) {
  train(command("model", 40));
  const std::vector<std::string> lines = {"1 2 3",
                                          "4 \xff\xfe 5",
                                          std::string("6\0 7", 4),
                                          "8 9 1\r",
                                          "1 \u2028 2",
                                          "3\v4\f5",
                                          "6 \u0085 7 \u2029 8",
                                          "",
                                          " \t ",
                                          "\xc3",
                                          "9 8 7"};
  program_.write("odd", joined(lines));
  const Outcome outcome = program_.run("translate --model model --input odd");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  const std::vector<std::string> translations = lines_of(outcome.out);
  ASSERT_EQ(translations.size(), lines.size());
  EXPECT_EQ(translations[7], "");
  EXPECT_EQ(translations[8], "");
  EXPECT_EQ(base::repair_utf8(outcome.out), outcome.out) << "the output is not UTF-8";
  for (const size_t line : {size_t{0}, lines.size() - 1}) {
    program_.write("alone", lines[line] + "\n");
    EXPECT_EQ(program_.run("translate --model model --input alone").out, translations[line] + "\n");
  }
}

// Digits as Chinese ones, without spaces, each line with this full-width mark at its end.
std::string chinese(const std::string& digits, const std::string& mark) {
  const std::vector<std::string> names = {"零", "一", "二", "三", "四", "五", "六", "七", "八", "九"};
  std::string text;
  for (const char c : digits) {
    text += c == '\n' ? mark + "\n" : c == ' ' ? "" : names[static_cast<size_t>(c - '0')];
  }
  return text;
}

TEST_F(TrainText, ChineseKeepsItsPunctuationAndIsScoredByCharacters) {
  for (const std::string side : {"train", "valid"}) {
    program_.write(side + ".source", chinese(program_.read(side + ".source"), "，"));
    program_.write(side + ".target", chinese(program_.read(side + ".target"), "。！"));
  }
  const std::map<std::string, std::string> texts = {{"valid-source", "valid.source"},
                                                    {"valid-target", "valid.target"},
                                                    {"vocab-size", "40"},
                                                    {"validate-every", "5"}};
  std::map<std::string, std::string> unfit = texts;
  unfit.insert({{"normalization", "nmt_nfkc"}, {"tokenize", "13a"}});
  BackgroundProgram plain(program_.folder(), command("plain", 5, unfit));
  EXPECT_EQ(plain.wait(), 0) << plain.errors();
  for (const std::string advice : {"300 of the first 300 lines of train.target", "--normalization identity",
                                   "the validation text is Chinese", "--tokenize zh"}) {
    EXPECT_NE(plain.errors().find(advice), std::string::npos) << "expected '" << advice << "' in: " << plain.errors();
  }
  BackgroundProgram run(program_.folder(), command("model", 5, texts));
  EXPECT_EQ(run.wait(), 0) << run.errors();
  EXPECT_NE(run.errors().find("train.target is Chinese: --tokenize zh --normalization identity is chosen\n"),
            std::string::npos)
      << run.errors();
  EXPECT_EQ(run.errors().find("warning: the validation text is Chinese"), std::string::npos) << run.errors();
  EXPECT_EQ(report::read_metrics(path("model") / "metrics.jsonl").validation.size(), 1U);
  const Outcome there_and_back =
      program_.run("vocab --model model/vocabulary.spm --encode <train.target | '" DRAGOMAN_PROGRAM
                   "' vocab --model model/vocabulary.spm --decode");
  EXPECT_EQ(there_and_back.out, program_.read("train.target"));
  const Outcome translated = program_.run("translate --model model --input valid.source");
  EXPECT_EQ(translated.status, 0) << translated.err;
  EXPECT_EQ(lines_of(translated.out).size(), 8U);
}

TEST_F(TrainText, ALineOfAHundredThousandTokensIsSplitWithAWarningAndItsNeighboursDoNotChange) {
  train(command("model", 40, {{"d-model", "16"}, {"d-ff", "16"}}));
  program_.write("with", "1 2 3\n" + repeated("1 ", 100'000) + "\n4 5 6\n");
  program_.write("without", "1 2 3\n\n4 5 6\n");
  const Outcome with = program_.run("translate --model model --input with --max-length-ratio 1 --max-length-extra 0");
  const Outcome without =
      program_.run("translate --model model --input without --max-length-ratio 1 --max-length-extra 0");
  EXPECT_EQ(with.status, 0) << with.err;
  EXPECT_NE(with.err.find("line 2: "), std::string::npos) << with.err;
  EXPECT_NE(with.err.find(" parts"), std::string::npos) << with.err;
  const std::vector<std::string> seen = lines_of(with.out), expected = lines_of(without.out);
  ASSERT_EQ(seen.size(), 3U);
  EXPECT_EQ(seen[0], expected[0]);
  EXPECT_NE(seen[1], "");
  EXPECT_EQ(seen[2], expected[2]);
}

}  // namespace
}  // namespace dragoman
