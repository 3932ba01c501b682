#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <string>
#include <string_view>

#include "support/temporary_folder.h"

namespace dragoman::test_support {

/// The outcome of a run of the program. If a signal ended it, the status is 128 + its number, as in a shell.
struct Outcome {
  int status = -1;
  std::string out;  ///< standard output
  std::string err;  ///< standard error
};

/// Runs dragoman in a temporary folder, which the destructor removes.
class Program {
 public:
  /// @param words  what a shell would get after "dragoman": redirections and pipes work.
  ///               Standard input is empty unless redirected.
  /// @param environment  "NAME=value NAME=value" in front of it
  Outcome run(const std::string& words, const std::string& environment = "") const {
    const std::string command = "cd '" + folder_.path().string() + "' && ( " + environment +
                                " '" DRAGOMAN_PROGRAM "' " + words + " ) </dev/null >.out 2>.err";
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read(".out"), read(".err")};
  }

  std::string read(const std::string& name) const {
    std::ifstream file(folder_.path() / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

  void write(const std::string& name, std::string_view content) const {
    std::ofstream(folder_.path() / name, std::ios::binary) << content;
  }

  const std::filesystem::path& folder() const { return folder_.path(); }

 private:
  TemporaryFolder folder_;
};

/// Expects this exit status, and each of `parts` in standard error.
inline void expect_failure(const Outcome& outcome, int status, std::initializer_list<std::string_view> parts) {
  EXPECT_EQ(outcome.status, status) << outcome.err;
  for (const std::string_view part : parts) {
    EXPECT_NE(outcome.err.find(part), std::string::npos) << "expected '" << part << "' in: " << outcome.err;
  }
}

}  // namespace dragoman::test_support
