#pragma once

#include <signal.h>

namespace dragoman::base {

/// While alive, SIGINT and SIGTERM ask for a clean stop instead of ending the process: the first is remembered, to be
/// looked at between steps; the second ends the process at once with 128 + its number (130 or 143).
/// Restores the handlers it found. One at a time in a process: the constructor throws Error for a second one.
/// Thread safety: requested() and exit_status() may be called from any thread.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  /// True once a signal has come.
  bool requested() const;
  /// Exit status for that signal: 130 (SIGINT), 143 (SIGTERM); 0 while none has come.
  int exit_status() const;

 private:
  struct sigaction old_interrupt_ {};
  struct sigaction old_terminate_ {};
};

/// While alive, SIGINT and SIGTERM end the process at once with status 130 or 143, after `message` on standard error:
/// for long work with nothing to save, wherever it is (inside a foreign library, in other threads). A StopSignals made
/// meanwhile takes over for its lifetime, without a moment between the two. Restores the handlers it found. One at a
/// time in a process: the constructor throws Error for a second one.
class EndOnSignal {
 public:
  /// @param message  ends in LF; must live for the whole process, such as a literal
  explicit EndOnSignal(const char* message);
  ~EndOnSignal();
  EndOnSignal(const EndOnSignal&) = delete;
  EndOnSignal& operator=(const EndOnSignal&) = delete;

 private:
  struct sigaction old_interrupt_ {};
  struct sigaction old_terminate_ {};
};

}  // namespace dragoman::base
