#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/program.h"

namespace dragoman::cli {
namespace {

using test_support::expect_failure;
using test_support::Outcome;
using test_support::Program;

TEST(Status, VersionSaysHowTheProgramWasMade) {
  const Outcome version = Program().run("--version");
  EXPECT_EQ(version.status, 0) << version.err;
  EXPECT_THAT(version.out, testing::MatchesRegex("dragoman [0-9.]+ \\(commit [0-9a-z-]+\\)\n"
                                                 "compiler +[^\n]*[0-9.]+, (release|debug|sanitized) build\n"
                                                 "instruction sets +avx2, avx512, vnni, bf16, amx; here [^\n]+\n"));
  EXPECT_EQ(Program().run("-V").out, version.out);
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
  expect_failure(program.run("evaluate --hypothesis a --reference b --metrics wer"), 2, {"'wer'", "chrf"});
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
           {"--width 3 evaluate --hypothesis a --reference b",
            "evaluate: --width stands before the command; the name of the command comes first"},
           {evaluate + "--bananas", "evaluate: --bananas: unknown option"},
           {"info --json", "info: --json: unknown option"},
           {"compile", "dragoman: unknown command \"compile\""},
           {"-v", "dragoman: -v: unknown option; did you mean -V?"},
           {"-x", "dragoman: -x: unknown option"},
           {"train --model m --preset huge",
            "train: --preset is \"huge\", must be tiny, tiny-prenorm, tiny-hour, tiny-hour-prenorm, small, "
            "small-prenorm, base, base-prenorm, big, big-prenorm, gpt-mini, gpt-char, gpt2-small, llama-mini, "
            "gru-mini, lstm-mini, conv-mini, t5-mini or bert-mini"},
           {"train --model m --source a --target a --d-model 9 --n-heads 2",
            "train: --d-model is 9, must be a multiple of --n-heads (2)"},
           {"train --model m --source a --target a --dropout 0.96", "train: --dropout is 0.96, must be 0 to 0.95"},
           {"train --model m --source a --target a --vocab-size 4", "train: --vocab-size is 4, must be 5 to 1000000"},
           {"serve --model m --longest-wait -1", "serve: --longest-wait is -1, must be 0 to 3600"},
           {"average --input m --output n --last 2000", "average: --last is 2000, must be 0 to 1000"},
           {evaluate + "--width 3 4", "evaluate: \"4\" was not expected: a value follows the name of its option"},
           {"train --model m --joint-vocab maybe", "train: --joint-vocab is \"maybe\", must be true or false"},
           {"--verison", "dragoman: --verison: unknown option; did you mean --version?"}}) {
    expect_failure(program.run(words), 2, {text + "\n"});
  }
}

TEST(Status, WrongUsageShowsHowACommandIsCalled) {
  const Program program;
  EXPECT_EQ(program.run("evaluate --hypothesi x").err,
            "dragoman evaluate: --hypothesi: unknown option; did you mean --hypothesis?\n"
            "Usage: dragoman evaluate --hypothesis FILE --reference FILE [OPTION]...\n"
            "\"dragoman evaluate --help\" explains the options\n");
  EXPECT_EQ(program.run("import x").err,
            "dragoman import: --from FORMAT and --model DIR are required\n"
            "Usage: dragoman import --from FORMAT DIR --model DIR [OPTION]...\n"
            "\"dragoman import --help\" explains the options\n");
  EXPECT_EQ(program.run("").err,
            "dragoman: a command is missing\nUsage: dragoman COMMAND [OPTION]...\n"
            "\"dragoman --help\" explains the commands\n");
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
