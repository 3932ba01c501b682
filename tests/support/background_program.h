#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "support/program.h"
#include "support/wait_until.h"

namespace dragoman::test_support {

/// Returns: a size in KiB of /proc/PROCESS/status; -1 if it is not there. "RssAnon" is the resident memory without
/// files. "VmHWM" is the largest resident memory so far.
inline int64_t status_kib(pid_t process, const std::string& name) {
  std::ifstream file("/proc/" + std::to_string(process) + "/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(name + ":")) {
      return std::stoll(line.substr(name.size() + 1));
    }
  }
  return -1;
}

/// Runs dragoman, or another program, in a folder beside the test, which can stop it, kill it or wait for it. The
/// destructor kills it.
class BackgroundProgram {
 public:
  /// @param words  the arguments of the program
  /// @param environment  variables set for it in addition
  BackgroundProgram(const std::filesystem::path& folder, const std::vector<std::string>& words,
                    const std::map<std::string, std::string>& environment = {},
                    const std::string& program = DRAGOMAN_PROGRAM)
      : child_(::fork()) {
    const pid_t id = child_ == 0 ? ::getpid() : child_;
    errors_ = folder / (".background." + std::to_string(id) + ".err");
    if (child_ == 0) {
      become_program(folder, words, environment, program);
    }
  }
  ~BackgroundProgram() {
    if (!has_ended()) {
      ::kill(child_, SIGKILL);
      wait();
    }
  }
  BackgroundProgram(const BackgroundProgram&) = delete;
  BackgroundProgram& operator=(const BackgroundProgram&) = delete;

  void send(int signal) const { ::kill(child_, signal); }
  pid_t id() const { return child_; }

  bool has_ended() {
    if (!ended_) {
      ended_ = ::waitpid(child_, &status_, WNOHANG) == child_;
    }
    return ended_;
  }

  /// Returns: the exit status; 128 + the number of the signal if a signal ended it, as in a shell.
  int wait() {
    if (!ended_) {
      ended_ = ::waitpid(child_, &status_, 0) == child_;
    }
    return WIFEXITED(status_) ? WEXITSTATUS(status_) : 128 + WTERMSIG(status_);
  }

  /// Returns: true once it handles SIGINT.
  bool catches_interrupts() const {
    std::ifstream file("/proc/" + std::to_string(child_) + "/status");
    for (std::string line; std::getline(file, line);) {
      if (line.starts_with("SigCgt:")) {
        return (std::stoull(line.substr(7), nullptr, 16) >> (SIGINT - 1) & 1U) != 0;
      }
    }
    return false;
  }

  /// Returns: the processor time of all its threads so far, a measure of progress that a busy machine does not change.
  std::chrono::milliseconds processor_time() const {
    clockid_t clock = 0;
    timespec time{};
    ::clock_getcpuclockid(child_, &clock);
    ::clock_gettime(clock, &time);
    return std::chrono::milliseconds(time.tv_sec * 1000 + time.tv_nsec / 1'000'000);
  }

  /// Returns: its standard error so far.
  std::string errors() const {
    std::ifstream file(errors_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

 private:
  [[noreturn]] void become_program(const std::filesystem::path& folder, const std::vector<std::string>& words,
                                   const std::map<std::string, std::string>& environment,
                                   const std::string& program) const {
    for (const auto& [name, value] : environment) {
      ::setenv(name.c_str(), value.c_str(), 1);
    }
    std::filesystem::current_path(folder);
    ::dup2(::open("/dev/null", O_RDWR), STDIN_FILENO);
    ::dup2(STDIN_FILENO, STDOUT_FILENO);
    ::dup2(::open(errors_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666), STDERR_FILENO);
    std::vector<char*> arguments{const_cast<char*>(program.c_str())};
    for (const std::string& word : words) {
      arguments.push_back(const_cast<char*>(word.c_str()));
    }
    arguments.push_back(nullptr);
    ::execvp(program.c_str(), arguments.data());
    ::_exit(127);
  }

  pid_t child_;
  std::filesystem::path errors_;
  int status_ = 0;
  bool ended_ = false;
};

}  // namespace dragoman::test_support
