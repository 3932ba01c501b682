#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "support/program.h"

namespace dragoman::cli {
namespace {

using test_support::expect_failure;
using test_support::Outcome;
using test_support::Program;

const std::vector<std::string> kCommands = {"train",   "translate", "evaluate", "score",         "attention",
                                            "average", "inspect",   "vocab",    "sample-corpus", "info"};

std::string on_one_line(const std::string& text) {
  std::istringstream words(text);
  std::string line;
  for (std::string word; words >> word;) {
    line += line.empty() ? word : " " + word;
  }
  return line;
}

TEST(Status, HelpOfEveryCommandSaysWhatItsOptionsMean) {
  const Program program;
  const Outcome top = program.run("--help");
  EXPECT_EQ(top.status, 0);
  for (const std::string& command : kCommands) {
    EXPECT_NE(top.out.find("  " + command + " "), std::string::npos) << command << " is missing in: " << top.out;
    const Outcome help = program.run(command + " --help");
    EXPECT_EQ(help.status, 0) << command << ": " << help.err;
    EXPECT_NE(help.out.find("Usage: dragoman " + command), std::string::npos) << help.out;
    EXPECT_NE(help.out.find("--config"), std::string::npos) << help.out;
  }
  const std::string evaluate = on_one_line(program.run("evaluate --help").out);
  for (const char* part : {"13a, intl, zh, char or none", "default: 13a", "required", "default: 12345"}) {
    EXPECT_NE(evaluate.find(part), std::string::npos) << "expected '" << part << "' in: " << evaluate;
  }
}

TEST(Status, HelpKeepsLinesShort) {
  const Program program;
  for (const std::string& command : kCommands) {
    std::istringstream help(program.run(command + " --help").out);
    std::string line;
    std::getline(help, line);  // what the command does stands on one line
    while (std::getline(help, line)) {
      EXPECT_LE(line.size(), 100U) << command << ": " << line;
    }
  }
}

TEST(Status, VersionIsPrinted) {
  EXPECT_EQ(Program().run("--version").status, 0);
  EXPECT_NE(Program().run("--version").out.find('.'), std::string::npos);
}

TEST(Status, WrongUsageIsTwo) {
  const Program program;
  expect_failure(program.run(""), 2, {"a command is missing", "--help"});
  expect_failure(program.run("evalute"), 2, {"unknown command \"evalute\"", "did you mean evaluate?"});
  expect_failure(program.run("evaluate --hypothesi x"), 2, {"--hypothesi: unknown option", "--hypothesis?"});
  expect_failure(program.run("evaluate --widht=3"), 2, {"--widht: unknown option", "--width?"});
  expect_failure(program.run("evaluate"), 2, {"--hypothesis", "required"});
  expect_failure(program.run("evaluate --hypothesis a --reference b c --width 3 d"), 2, {"\"d\" was not expected"});
  expect_failure(program.run("evaluate --hypothesis"), 2, {"--hypothesis"});
  expect_failure(program.run("evaluate --hypothesis a --reference b --width x"), 2, {"--width", "x"});
  expect_failure(program.run("evaluate --hypothesis a --reference b --metrics ter"), 2, {"'ter'", "chrf"});
  expect_failure(program.run("evaluate --hypothesis a --reference b --tokenize 13b"), 2, {"13b", "13a"});
  expect_failure(program.run("sample-corpus --output c --size 3"), 2, {"--size is 3", "must be 100 to 200000"});
  expect_failure(program.run("sample-corpus --output c --pair fr-xx"), 2, {"fr-xx", "en-de"});
  expect_failure(program.run("sample-corpus --output c --seed -1"), 2, {"--seed"});
  expect_failure(program.run("translate --model m --beam-size 0"), 2, {"beam"});
  expect_failure(program.run("train --model m --preset huge"), 2, {"huge", "tiny"});
}

TEST(Status, WrongUsageIsSaidInOurWords) {
  const Program program;
  const std::string evaluate = "evaluate --hypothesis a --reference b ";
  for (const auto& [words, text] : std::vector<std::pair<std::string, std::string>>{
           {evaluate + "--width 3 --width 4", "evaluate: --width is given 2 times, as 3 and 4; keep one"},
           {"train --model m --d-model 64 --initial-model i", "train: --d-model cannot be given with --initial-model"},
           {evaluate + "--config x --config y", "evaluate: --config is given 2 times, as x and y; keep one"},
           {"evaluate", "evaluate: --hypothesis FILE and --reference FILE are required"},
           {"evaluate --hypothesis a", "evaluate: --reference FILE is required"},
           {"evaluate --hypothesis", "evaluate: --hypothesis needs a value: FILE"},
           {evaluate + "--tokenize", "evaluate: --tokenize needs a value: 13a, intl, zh, char or none"},
           {evaluate + "--tokenize 13b",
            "evaluate: --tokenize is \"13b\", must be 13a, intl, zh, char or none; did you mean 13a?"},
           {evaluate + "--width x", "evaluate: --width is \"x\", must be a whole number"},
           {evaluate + "--width ''", "evaluate: --width is \"\", must be a whole number"},
           {evaluate + "--width 010", "evaluate: --width is \"010\", must be a whole number without leading zeros"},
           {evaluate + "--width 99999999999", "evaluate: --width is \"99999999999\", which is out of range"},
           {evaluate + "--seed -1", "evaluate: --seed is \"-1\", must be 0 or more"},
           {evaluate + "--seed 99999999999999999999",
            "evaluate: --seed is \"99999999999999999999\", which is out of range"},
           {evaluate + "--smooth-value x", "evaluate: --smooth-value is \"x\", must be a number"},
           {evaluate + "--lowercase=5", "evaluate: --lowercase is \"5\", must be true or false"},
           {evaluate + "-width 3", "evaluate: -width: unknown option; did you mean --width?"},
           {evaluate + "--width 3 4", "evaluate: \"4\" was not expected: a value follows the name of its option"},
           {"train --model m --joint-vocab maybe", "train: --joint-vocab is \"maybe\", must be true or false"},
           {"--verison", "dragoman: --verison: unknown option; did you mean --version?"}}) {
    expect_failure(program.run(words), 2, {text + "\n"});
  }
}

TEST(Status, MissingFilesAndFoldersAreSixtyFiveAndNamed) {
  const Program program;
  program.write("text", "one line\n");
  program.write("empty", "");
  for (const std::string& command :
       {std::string("evaluate --hypothesis nothing --reference text"),
        std::string("evaluate --hypothesis text --reference nothing"),
        std::string("vocab --input nothing --output v.spm"), std::string("vocab --model nothing --encode"),
        std::string("translate --model nothing"), std::string("score --model nothing --source text --target text"),
        std::string("attention --model nothing --text x --output x.html"), std::string("inspect --model nothing"),
        std::string("average --input nothing --output x"),
        std::string("train --model m --source nothing --target text"
                    " --valid-source text --valid-target text")}) {
    const Outcome outcome = program.run(command);
    expect_failure(outcome, 65, {"dragoman: ", "nothing"});
    EXPECT_EQ(outcome.out, "") << command;
  }
  expect_failure(program.run("evaluate --hypothesis . --reference text"), 65, {"directory"});
  expect_failure(program.run("vocab --input . --output v.spm"), 65, {"directory"});
  expect_failure(program.run("vocab --input empty --output v.spm"), 65, {"empty"});
  expect_failure(program.run("translate --model text"), 65, {"text"});
  EXPECT_FALSE(std::filesystem::exists(program.folder() / "v.spm"));
}

TEST(Status, OutputThatCannotBeWrittenIsSeventyFour) {
  const Program program;
  program.write("text", "one line\n");
  for (const std::string& command :
       {std::string("info"), std::string("evaluate --hypothesis text --reference text"), std::string("--help"),
        std::string("--version"), std::string("sample-corpus --output c --size 100")}) {
    expect_failure(program.run(command + " >&-"), 74, {"standard output"});
    if (std::filesystem::exists("/dev/full")) {
      expect_failure(program.run(command + " >/dev/full"), 74, {"standard output"});
    }
  }
  expect_failure(program.run("sample-corpus --size 100 --output text/below"), 74, {"text"});
  expect_failure(program.run("vocab --input text --size 20 --output missing/v.spm"), 74, {"missing/v.spm"});
}

TEST(Status, AFileOpenedWhileStandardOutputIsClosedKeepsItsContent) {
  const Program program;
  ASSERT_EQ(program.run("sample-corpus --size 100 --output open").status, 0);
  EXPECT_EQ(program.run("sample-corpus --size 100 --output closed >&-").status, 74);
  for (const char* file : {"train.en", "train.de", "test.pronouns.tsv"}) {
    EXPECT_EQ(program.read(std::string("open/") + file), program.read(std::string("closed/") + file)) << file;
  }
}

TEST(Status, ClosedStandardErrorAndInputEndNothing) {
  const Program program;
  program.write("text", "one line\n");
  EXPECT_EQ(program.run("evaluate --hypothesis text --reference missing 2>&-").status, 65);
  EXPECT_EQ(program.run("nonsense 2>&-").status, 2);
  if (std::filesystem::exists("/dev/full")) {
    EXPECT_EQ(program.run("nonsense 2>/dev/full").status, 2);
    EXPECT_EQ(program.run("evaluate --hypothesis text --reference missing 2>/dev/full").status, 65);
  }
  EXPECT_EQ(program.run("evaluate --hypothesis text --reference text <&- 2>&-").status, 0);
  EXPECT_EQ(program.run("evaluate --hypothesis - --reference text <&-").status, 65);
}

}  // namespace
}  // namespace dragoman::cli
