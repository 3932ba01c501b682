#pragma once

#include <regex>
#include <string>
#include <vector>

#include "support/program.h"

namespace dragoman::test_support {

/// Returns: the commands that `dragoman --help` lists.
inline std::vector<std::string> commands_of(const Program& program) {
  const std::string help = program.run("--help").out;
  const std::regex row("(^|\n)  ([a-z][a-z-]*)  +[^ ]");
  std::vector<std::string> commands;
  for (std::sregex_iterator match(help.begin(), help.end(), row), end; match != end; ++match) {
    commands.push_back((*match)[2]);
  }
  return commands;
}

}  // namespace dragoman::test_support
