#pragma once

#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "support/wait_until.h"

namespace dragoman::test_support {

/// Runs dragoman, or another program, in a terminal of its own, where a test types and reads what is shown. The
/// destructor kills it.
class Terminal {
 public:
  Terminal(const std::filesystem::path& folder, const std::vector<std::string>& words,
           const std::string& program = DRAGOMAN_PROGRAM) {
    winsize size{24, 100, 0, 0};
    child_ = ::forkpty(&terminal_, nullptr, nullptr, &size);
    if (child_ == 0) {
      std::filesystem::current_path(folder);
      ::setenv("TERM", "dumb", 1);
      std::vector<char*> arguments{const_cast<char*>(program.c_str())};
      for (const std::string& word : words) {
        arguments.push_back(const_cast<char*>(word.c_str()));
      }
      arguments.push_back(nullptr);
      ::execvp(program.c_str(), arguments.data());
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
    [[maybe_unused]] const ssize_t written = ::write(terminal_, keys.data(), keys.size());
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
