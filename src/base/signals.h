#pragma once

#include <signal.h>
#include <sys/types.h>

namespace dragoman::base {

/// A scope in which SIGINT and SIGTERM request a clean stop instead of ending the process. The first signal is stored
/// and read between steps. The second one ends the process at once with status 130 (SIGINT) or 143 (SIGTERM). The
/// destructor restores the previous handlers. Throws: Error if the process already has such an object. Threads: any
/// thread may call requested() and exit_status().
class [[nodiscard]] StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  /// Returns true after the first signal.
  bool requested() const;
  /// Returns the exit status for the first signal, 130 (SIGINT) or 143 (SIGTERM), and 0 before it.
  int exit_status() const;

 private:
  struct sigaction old_interrupt_ {};
  struct sigaction old_terminate_ {};
};

/// Passes a signal on to a process that may have had it too, as Ctrl-C reaches a group of processes: for a StopSignals
/// there it is a first signal, but no second one.
void forward_signal(pid_t process, int signal);

/// A scope in which SIGINT and SIGTERM write `message` to standard error and end the process at once with status 130 or
/// 143. It serves long work with nothing to save, also inside foreign libraries and in other threads. A StopSignals
/// inside the scope takes over for its lifetime, without a gap between the two. The destructor restores the previous
/// handlers. Throws: Error if the process already has such an object.
class [[nodiscard]] EndOnSignal {
 public:
  /// Requires: `message` ends in LF and lives as long as the process, as a literal does.
  explicit EndOnSignal(const char* message);
  ~EndOnSignal();
  EndOnSignal(const EndOnSignal&) = delete;
  EndOnSignal& operator=(const EndOnSignal&) = delete;

 private:
  struct sigaction old_interrupt_ {};
  struct sigaction old_terminate_ {};
};

}  // namespace dragoman::base
