#include "study/child_process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>

#include "base/durable_write.h"
#include "base/error.h"
#include "base/files.h"

namespace dragoman::study {
namespace {

constexpr int kCannotRun = 127;  // the shell's status
constexpr int kSignalStatus = 128;

// Only functions that are safe between fork and exec.
[[noreturn]] void become(int program, const std::vector<char*>& words, int output, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) {
    ::_exit(kSignalStatus + SIGKILL);
  }
  std::signal(SIGPIPE, SIG_DFL);
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (nothing < 0 || ::dup2(nothing, STDIN_FILENO) < 0 || (output >= 0 && ::dup2(output, STDOUT_FILENO) < 0)) {
    ::_exit(kCannotRun);
  }
  ::fexecve(program, words.data(), environ);
  ::_exit(kCannotRun);
}

int wait_for(pid_t child, const base::StopSignals& signals) {
  constexpr auto kPause = std::chrono::milliseconds(20);
  bool is_told = false;
  for (int status = 0;;) {
    const pid_t ended = ::waitpid(child, &status, WNOHANG);
    if (ended == child) {
      return WIFEXITED(status) ? WEXITSTATUS(status) : kSignalStatus + WTERMSIG(status);
    }
    base::check(ended == 0 || errno == EINTR, base::ErrorKind::kRuntime, "study: cannot wait for a program: {}",
                std::strerror(errno));
    if (!is_told && signals.requested()) {
      base::forward_signal(child, signals.exit_status() - kSignalStatus);
      is_told = true;
    }
    std::this_thread::sleep_for(kPause);
  }
}

}  // namespace

int run_child(const base::FileDescriptor& program, const std::vector<std::string>& words,
              const std::filesystem::path& output, const base::StopSignals& signals) {
  std::vector<char*> pointers;
  for (const std::string& word : words) {
    pointers.push_back(const_cast<char*>(word.c_str()));  // execv changes nothing
  }
  pointers.push_back(nullptr);
  const std::filesystem::path part = output.string() + ".part";
  base::FileDescriptor file;
  if (!output.empty()) {
    file = base::FileDescriptor(::open(part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
    base::check(file.get() >= 0, base::ErrorKind::kCannotWrite, "{}: cannot open: {}", part.string(),
                std::strerror(errno));
  }
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  base::check(child >= 0, base::ErrorKind::kRuntime, "study: cannot start {}: {}", words.front(), std::strerror(errno));
  if (child == 0) {
    become(program.get(), pointers, output.empty() ? -1 : file.get(), parent);
  }
  const int status = wait_for(child, signals);
  base::check(status != kCannotRun, base::ErrorKind::kRuntime, "study: cannot run {}", words.front());
  if (status == 0 && !output.empty()) {
    base::check_written(base::try_rename(part, output), output);
  }
  return status;
}

}  // namespace dragoman::study
