#include "base/signals.h"

#include <unistd.h>

#include <atomic>

#include "base/error.h"

namespace dragoman::base {
namespace {

// A handler sees nothing but objects of static storage, so these two are the exception to "no global state".
std::atomic<int> received_signal{0};
std::atomic<bool> is_installed{false};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler may use lock-free atomics only");

constexpr int kSignalStatus = 128;  // the shell's convention: 128 + signal number

extern "C" void remember_signal(int signal) {
  int none = 0;
  if (!received_signal.compare_exchange_strong(none, signal)) {
    ::_exit(kSignalStatus + signal);
  }
}

}  // namespace

StopSignals::StopSignals() {
  check_argument(!is_installed.exchange(true), "signals: StopSignals exists already; make one for the whole run");
  received_signal = 0;
  struct sigaction action {};
  action.sa_handler = remember_signal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGINT, &action, &old_interrupt_);
  ::sigaction(SIGTERM, &action, &old_terminate_);
}

StopSignals::~StopSignals() {
  ::sigaction(SIGINT, &old_interrupt_, nullptr);
  ::sigaction(SIGTERM, &old_terminate_, nullptr);
  is_installed = false;
}

bool StopSignals::requested() const {
  return received_signal != 0;
}

int StopSignals::exit_status() const {
  const int signal = received_signal;
  return signal == 0 ? 0 : kSignalStatus + signal;
}

}  // namespace dragoman::base
