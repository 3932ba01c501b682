// The scripts of `dragoman completion` in the real shells. A shell that is not installed skips its test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "support/commands_of.h"
#include "support/program.h"
#include "support/terminal.h"

namespace dragoman::cli {
namespace {

using test_support::commands_of;
using test_support::expect_failure;
using test_support::Program;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;
using testing::UnorderedElementsAre;

class Completion : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (std::system(("command -v " + GetParam() + " >/dev/null 2>&1").c_str()) != 0) {
      GTEST_SKIP() << "no program " << GetParam() << "; scripts/install_dependencies.sh installs it";
    }
    const auto script = program_.run("completion " + GetParam());
    ASSERT_EQ(script.status, 0) << script.err;
    program_.write("script", script.out);
    program_.write("one.text", "");
    program_.write("two words.text", "");
    std::filesystem::create_directory(program_.folder() / "one.folder");
  }

  // What the shell offers behind "dragoman WORDS", without descriptions.
  std::vector<std::string> offered(const std::string& words) const {
    return GetParam() == "bash" ? by_bash(words) : GetParam() == "fish" ? by_fish(words) : by_zsh(words);
  }

  Program program_;

 private:
  std::vector<std::string> by_shell(const std::string& shell, const std::string& code) const {
    program_.write("code", code);
    const auto outcome = program_.run("--version >ignored; " + shell + " code");
    EXPECT_EQ(outcome.err, "");
    std::vector<std::string> lines;
    std::istringstream text(outcome.out);
    for (std::string line; std::getline(text, line);) {
      lines.push_back(line.substr(0, line.find('\t')));
    }
    return lines;
  }

  std::vector<std::string> by_bash(const std::string& words) const {
    return by_shell("bash", "source ./script\nCOMP_WORDS=(dragoman " + words +
                                ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_dragoman\n"
                                "[ ${#COMPREPLY[@]} -eq 0 ] || printf '%s\\n' \"${COMPREPLY[@]}\"\n");
  }

  std::vector<std::string> by_fish(const std::string& words) const {
    return by_shell("fish --no-config", "source script\ncomplete -C \"dragoman " + shown(words) + "\"\n");
  }

  // The last word may be empty, which bash needs said.
  static std::string shown(const std::string& words) {
    return words.ends_with("''") ? words.substr(0, words.size() - 2) : words;
  }

  // zsh completes in its line editor only, so one zsh has a terminal, and writes what it would list into a file.
  std::vector<std::string> by_zsh(const std::string& words) const {
    if (!zsh_) {
      program_.write("setup", kZshSetup);
      zsh_ = std::make_unique<test_support::Terminal>(
          program_.folder(), std::vector<std::string>{"-f", "-i"},
          test_support::TerminalOptions{.environment = {{"TERM", "xterm"}}, .program = "zsh"});
      zsh_->type("source ./setup\n");
      EXPECT_TRUE(zsh_->shows("ready> ")) << zsh_->text();
    }
    program_.write("matches", "");
    zsh_->type("dragoman " + shown(words) + "\t" + kClearLine + "print end-$((6 * 7))\n");
    EXPECT_TRUE(zsh_->shows("end-42") && zsh_->shows("ready> ")) << zsh_->text();  // only then does zsh read keys
    std::vector<std::string> lines;
    std::istringstream text(program_.read("matches"));
    for (std::string line; std::getline(text, line);) {
      if (std::ranges::find(lines, line) == lines.end()) {  // zsh may try several times
        lines.push_back(line);
      }
    }
    return lines;
  }

  static constexpr const char* kClearLine = "\x15";
  static constexpr const char* kZshSetup = R"(PROMPT='ready> '
unsetopt always_last_prompt beep
autoload -Uz compinit && compinit -u -D
source ./script
compadd() {
  local -a stores found
  zparseopts -E -a stores O: A: D:
  if (( $#stores == 0 )); then
    builtin compadd -O found "$@"
    (( $#found )) && print -rl -- $found >>matches
  fi
  builtin compadd "$@"
}
)";
  mutable std::unique_ptr<test_support::Terminal> zsh_;
};

TEST_P(Completion, OffersCommandsAndOptions) {
  EXPECT_THAT(offered("trans"), ElementsAre("translate"));
  EXPECT_THAT(offered("translate --beam-s"), Contains(testing::StartsWith("--beam-size")));
  EXPECT_THAT(offered("train --valid-so"), Contains(testing::StartsWith("--valid-source")));
  EXPECT_THAT(offered("evaluate --beam-s"), IsEmpty()) << "an option of another command";
  for (const std::string& command : commands_of(program_)) {
    EXPECT_THAT(offered(command), Contains(command));
    EXPECT_THAT(offered(command + " --qui"), Contains("--quiet")) << command;
  }
}

TEST_P(Completion, OffersValues) {
  EXPECT_THAT(offered("train --preset tiny-hour-"), ElementsAre("tiny-hour-prenorm"));
  EXPECT_THAT(offered("evaluate --tokenize ''"), UnorderedElementsAre("13a", "intl", "zh", "char", "none"));
  EXPECT_THAT(offered("train --joint-vocab ''"), UnorderedElementsAre("true", "false"));
  EXPECT_THAT(offered("translate --input one.t"), ElementsAre("one.text"));
  EXPECT_THAT(offered("translate -m one"), ElementsAre(testing::StartsWith("one.folder")));
  EXPECT_THAT(offered("translate -m one"), Not(Contains("one.text")));
  EXPECT_THAT(offered("help trans"), ElementsAre("translate"));
  EXPECT_THAT(offered("completion ba"), ElementsAre("bash"));
}

INSTANTIATE_TEST_SUITE_P(Shells, Completion, testing::Values("bash", "zsh", "fish"),
                         [](const auto& shell) { return shell.param; });

TEST(CompletionOfOtherShells, IsRefused) {
  expect_failure(Program().run("completion tcsh"), 2, {"completion: shell is \"tcsh\", must be bash, zsh or fish\n"});
  expect_failure(Program().run("completion"), 2, {"completion: SHELL is required\n"});
}

}  // namespace
}  // namespace dragoman::cli
