#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "support/wait_until.h"

namespace dragoman::test_support {

struct TerminalOptions {
  std::map<std::string, std::string> environment =
      {};  ///< added to the test's; TERM is dumb and NO_COLOR unset unless given
  std::string program = DRAGOMAN_PROGRAM;
};

/// Runs dragoman, or another program, in a terminal of 100 columns, where a test types and reads what is shown. The
/// destructor kills it.
class Terminal {
 public:
  Terminal(const std::filesystem::path& folder, const std::vector<std::string>& words,
           const TerminalOptions& options = {}) {
    winsize size{24, 100, 0, 0};
    child_ = ::forkpty(&terminal_, nullptr, nullptr, &size);
    if (child_ == 0) {
      std::filesystem::current_path(folder);
      ::setenv("TERM", "dumb", 1);
      ::unsetenv("NO_COLOR");
      for (const auto& [name, value] : options.environment) {
        ::setenv(name.c_str(), value.c_str(), 1);
      }
      std::vector<char*> arguments{const_cast<char*>(options.program.c_str())};
      for (const std::string& word : words) {
        arguments.push_back(const_cast<char*>(word.c_str()));
      }
      arguments.push_back(nullptr);
      ::execvp(options.program.c_str(), arguments.data());
      ::_exit(127);
    }
    ::fcntl(terminal_, F_SETFL, O_NONBLOCK);
  }
  ~Terminal() {
    if (!ended_) {
      ::kill(child_, SIGKILL);
      ::waitpid(child_, nullptr, 0);
    }
    ::close(terminal_);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  void type(const std::string& keys) const {
    EXPECT_EQ(::write(terminal_, keys.data(), keys.size()), static_cast<ssize_t>(keys.size()));
  }

  /// Returns: true once the text shown so far holds `part` behind what earlier calls have found.
  bool shows(const std::string& part) {
    return wait_until(
        [&] {
          read();
          const size_t at = text_.find(part, seen_);
          seen_ = at == std::string::npos ? seen_ : at + part.size();
          return at != std::string::npos;
        },
        std::chrono::minutes(1), std::chrono::milliseconds(5));
  }

  /// Expects that shows(part).
  void wait_for(const std::string& part) {
    EXPECT_TRUE(shows(part)) << "expected '" << part << "' in: " << text_.substr(seen_);
  }

  /// Returns: the exit status once the program has ended; 128 + the number of the signal if a signal ended it.
  int wait() {
    int status = 0;
    const auto has_ended = [&] {
      read();
      return ::waitpid(child_, &status, WNOHANG) == child_;
    };
    ended_ = wait_until(has_ended, std::chrono::minutes(1), std::chrono::milliseconds(5));
    read();
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  const std::string& text() const { return text_; }

 private:
  void read() {
    char buffer[4096];
    for (ssize_t bytes = 0; (bytes = ::read(terminal_, buffer, sizeof buffer)) > 0;) {
      text_.append(buffer, static_cast<size_t>(bytes));
    }
  }

  pid_t child_ = -1;
  int terminal_ = -1;
  std::string text_;
  size_t seen_ = 0;
  bool ended_ = false;
};

}  // namespace dragoman::test_support
