#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace dragoman::test_support {

/// Runs dragoman in a terminal of 100 columns, as a person does. The destructor kills it.
class PseudoTerminal {
 public:
  PseudoTerminal(const std::filesystem::path& folder, const std::vector<std::string>& words,
                 const std::map<std::string, std::string>& environment = {}) {
    winsize size{.ws_row = 30, .ws_col = 100, .ws_xpixel = 0, .ws_ypixel = 0};
    child_ = ::forkpty(&terminal_, nullptr, nullptr, &size);
    if (child_ == 0) {
      become_program(folder, words, environment);
    }
  }
  ~PseudoTerminal() {
    if (!ended_) {
      ::kill(child_, SIGKILL);
      wait();
    }
    ::close(terminal_);
  }
  PseudoTerminal(const PseudoTerminal&) = delete;
  PseudoTerminal& operator=(const PseudoTerminal&) = delete;

  void type(const std::string& keys) const {
    EXPECT_EQ(::write(terminal_, keys.data(), keys.size()), static_cast<ssize_t>(keys.size()));
  }

  /// Returns all that was printed since the start, once it holds `text` behind the part that earlier calls waited for,
  /// or after 20 seconds.
  std::string wait_for(const std::string& text) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    size_t found = printed_.find(text, seen_);
    while (found == std::string::npos && std::chrono::steady_clock::now() < end && read_more()) {
      found = printed_.find(text, seen_);
    }
    EXPECT_NE(found, std::string::npos) << "expected '" << text << "' in: " << printed_.substr(seen_);
    seen_ = found == std::string::npos ? printed_.size() : found + text.size();
    return printed_;
  }

  /// Returns the exit status; 128 + the number of the signal if a signal ended the program.
  int wait() {
    while (read_more()) {
    }
    int status = 0;
    ended_ = ::waitpid(child_, &status, 0) == child_;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  const std::string& printed() const { return printed_; }

 private:
  [[noreturn]] static void become_program(const std::filesystem::path& folder, const std::vector<std::string>& words,
                                          const std::map<std::string, std::string>& environment) {
    std::filesystem::current_path(folder);
    ::setenv("TERM", "xterm", 1);
    ::unsetenv("NO_COLOR");
    for (const auto& [name, value] : environment) {
      ::setenv(name.c_str(), value.c_str(), 1);
    }
    std::vector<char*> arguments = {const_cast<char*>(DRAGOMAN_PROGRAM)};
    for (const std::string& word : words) {
      arguments.push_back(const_cast<char*>(word.c_str()));
    }
    arguments.push_back(nullptr);
    ::execv(DRAGOMAN_PROGRAM, arguments.data());
    ::_exit(127);
  }

  // False at the end of the program, or when nothing came for 20 seconds.
  bool read_more() {
    pollfd ready{.fd = terminal_, .events = POLLIN, .revents = 0};
    if (::poll(&ready, 1, 20'000) <= 0) {
      return false;
    }
    char bytes[4096];
    const ssize_t count = ::read(terminal_, bytes, sizeof bytes);  // EIO at the end
    if (count <= 0) {
      return false;
    }
    printed_.append(bytes, static_cast<size_t>(count));
    return true;
  }

  int terminal_ = -1;
  pid_t child_ = -1;
  std::string printed_;
  size_t seen_ = 0;
  bool ended_ = false;
};

}  // namespace dragoman::test_support
