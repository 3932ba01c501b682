// What --help, `dragoman help` and the manual say, which are three forms of one table.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "support/commands_of.h"
#include "support/program.h"

namespace dragoman::cli {
namespace {

using test_support::commands_of;
using test_support::expect_failure;
using test_support::Outcome;
using test_support::Program;
using testing::ContainsRegex;
using testing::HasSubstr;

std::string on_one_line(const std::string& text) {
  std::istringstream words(text);
  std::string line;
  for (std::string word; words >> word;) {
    line += line.empty() ? word : " " + word;
  }
  return line;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    lines.push_back(line);
  }
  return lines;
}

// Where a line of the help begins with `text`; the number of lines if there is none.
size_t line_with(const std::string& help, const std::string& text) {
  const std::vector<std::string> lines = lines_of(help);
  size_t at = 0;
  while (at < lines.size() && !lines[at].starts_with(text)) {
    ++at;
  }
  return at;
}

TEST(Help, EveryCommandHasItWithAnExampleOfItsOwn) {
  const Program program;
  const std::vector<std::string> commands = commands_of(program);
  EXPECT_THAT(commands, testing::IsSupersetOf({"train", "translate", "evaluate", "score", "attention", "average",
                                               "inspect", "vocab", "sample-corpus", "info", "help", "completion"}));
  for (const std::string& command : commands) {
    const Outcome help = program.run(command + " --help");
    EXPECT_EQ(help.status, 0) << command << ": " << help.err;
    EXPECT_THAT(help.out, HasSubstr("\n\nUsage: dragoman " + command + " "));
    EXPECT_THAT(help.out, ContainsRegex("\n\nExample:\n  [^\n]*dragoman " + command)) << command;
    EXPECT_LT(line_with(help.out, "Example:"), line_with(help.out, "  -h, --help")) << help.out;
    EXPECT_THAT(help.out, HasSubstr("      --config FILE"));
    EXPECT_EQ(program.run("help " + command).out, help.out);
    EXPECT_EQ(program.run(command + " -h").out, help.out);
  }
  EXPECT_EQ(program.run("help").out, program.run("--help").out);
  expect_failure(program.run("help trian"), 2, {"help: unknown command \"trian\"; did you mean train?"});
  expect_failure(program.run("help bananas"), 2, {"help: unknown command \"bananas\"\n"});
}

TEST(Help, MeaningChoicesAndDefaultsAreShown) {
  const std::string evaluate = on_one_line(Program().run("evaluate --help").out);
  for (const char* part : {"13a, intl, zh, char or none", "default: 13a", "required", "default: 12345"}) {
    EXPECT_THAT(evaluate, HasSubstr(part));
  }
}

TEST(Help, GroupsComeWithTheMostUsedOptionsFirst) {
  const Program program;
  const std::string translate = program.run("translate --help").out;
  const std::vector<std::string> order = {"Most used:",          "  -m, --model DIR",     "  -i, --input FILE",
                                          "  -o, --output FILE", "      --beam-size INT", "Ranking of translations:",
                                          "Of every command:",   "  -q, --quiet"};
  for (size_t i = 1; i < order.size(); ++i) {
    EXPECT_LT(line_with(translate, order[i - 1]), line_with(translate, order[i])) << order[i] << "\n" << translate;
  }
  EXPECT_LT(line_with(translate, "  -q, --quiet"), lines_of(translate).size());
  const std::string train = program.run("train --help").out;
  for (const char* title : {"Most used:", "Shape of the model:", "Vocabulary:", "Learning rate:", "Optimizer:", "Loss:",
                            "Batches:", "When the run ends:", "Validation:", "Checkpoints and averages:",
                            "Speed and memory:", "Several processes:", "Of every command:"}) {
    EXPECT_LT(line_with(train, title), lines_of(train).size()) << title << " is missing in: " << train;
  }
  EXPECT_LT(line_with(train, "      --preset"), line_with(train, "Shape of the model:"));
}

// Twenty options under one title are a list in which nobody finds anything.
TEST(Help, NoGroupIsLong) {
  const Program program;
  for (const std::string& command : commands_of(program)) {
    int options = 0;
    for (const std::string& line : lines_of(program.run(command + " --help").out)) {
      options = line.empty() ? 0 : options + (line.starts_with("  -") || line.starts_with("      --") ? 1 : 0);
      EXPECT_LE(options, 18) << command << ": " << line;
    }
  }
}

TEST(Help, LinesAreShort) {
  const Program program;
  for (const std::string& command : commands_of(program)) {
    for (const std::string& line : lines_of(program.run(command + " --help").out)) {
      EXPECT_LE(line.size(), 100U) << command << ": " << line;
    }
  }
  for (const std::string& line : lines_of(program.run("--help").out)) {
    EXPECT_LE(line.size(), 100U) << line;
  }
}

bool is_there(const std::string& tool) {
  return std::system(("command -v " + tool + " >/dev/null 2>&1").c_str()) == 0;
}

TEST(Manual, PagesOfAllCommandsAreWrittenWithoutAWarningOfRoff) {
  const Program program;
  const Outcome written = program.run("man --output pages");
  ASSERT_EQ(written.status, 0) << written.err;
  std::vector<std::string> names = {"dragoman"};
  for (const std::string& command : commands_of(program)) {
    names.push_back("dragoman-" + command);
    EXPECT_EQ(program.run("man " + command).out, program.read("pages/dragoman-" + command + ".1"));
  }
  EXPECT_EQ(program.run("man").out, program.read("pages/dragoman.1"));
  if (!is_there("groff")) {
    GTEST_SKIP() << "no program groff; Debian's package groff-base has it";
  }
  for (const std::string& name : names) {
    const Outcome shown =
        program.run("--version >ignored; groff -ww -man -K utf8 -T utf8 -P -cbou -rLL=100n pages/" + name + ".1");
    EXPECT_EQ(shown.err, "") << name;
    EXPECT_THAT(shown.out, HasSubstr("EXIT STATUS")) << name;
  }
}

TEST(Manual, SaysWhatHelpSays) {
  if (!is_there("groff")) {
    GTEST_SKIP() << "no program groff; Debian's package groff-base has it";
  }
  const Program program;
  const std::string plain = on_one_line(program.run("man train | groff -man -T ascii -P -cbou -rLL=100n").out);
  for (const char* part :
       {"dragoman train --preset tiny-hour", "--total-minutes FLOAT", "Shape of the model", "default: auto"}) {
    EXPECT_THAT(plain, HasSubstr(part));
  }
  expect_failure(program.run("man trian"), 2, {"unknown command \"trian\"; did you mean train?"});
}

}  // namespace
}  // namespace dragoman::cli
