#include "base/signals.h"

#include <unistd.h>

#include <atomic>
#include <cstring>

#include "base/error.h"

namespace dragoman::base {
namespace {

// A handler sees nothing but objects of static storage, so these are the exception to "no global state".
std::atomic<int> received_signal{0};
std::atomic<bool> is_installed{false};
std::atomic<const char*> last_message{nullptr};
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<const char*>::is_always_lock_free,
              "a signal handler may use lock-free atomics only");

constexpr int kSignalStatus = 128;  // the shell's convention: 128 + signal number

constexpr int kForwarded = 0x646d;  // beside a signal of forward_signal

extern "C" void remember_signal(int signal, siginfo_t* sender, void* /*context*/) {
  const bool is_forwarded = sender->si_code == SI_QUEUE && sender->si_value.sival_int == kForwarded;
  int none = 0;
  if (!received_signal.compare_exchange_strong(none, signal) && !is_forwarded) {
    ::_exit(kSignalStatus + signal);
  }
}

extern "C" void end_process(int signal, siginfo_t* /*sender*/, void* /*context*/) {
  const char* const message = last_message;
  if (message != nullptr) {
    [[maybe_unused]] const ssize_t ignored = ::write(STDERR_FILENO, message, std::strlen(message));
  }
  ::_exit(kSignalStatus + signal);
}

void install(void (*handler)(int, siginfo_t*, void*), struct sigaction& old_interrupt,
             struct sigaction& old_terminate) {
  struct sigaction action {};
  action.sa_sigaction = handler;
  action.sa_flags = SA_RESTART | SA_SIGINFO;
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGINT, &action, &old_interrupt);
  ::sigaction(SIGTERM, &action, &old_terminate);
}

}  // namespace

StopSignals::StopSignals() {
  check_argument(!is_installed.exchange(true), "signals: StopSignals exists already; make one for the whole run");
  received_signal = 0;
  install(remember_signal, old_interrupt_, old_terminate_);
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

void forward_signal(pid_t process, int signal) {
  sigval value{};
  value.sival_int = kForwarded;
  ::sigqueue(process, signal, value);
}

EndOnSignal::EndOnSignal(const char* message) {
  const char* none = nullptr;
  check_argument(last_message.compare_exchange_strong(none, message),
                 "signals: EndOnSignal exists already; make one for the whole run");
  install(end_process, old_interrupt_, old_terminate_);
}

EndOnSignal::~EndOnSignal() {
  ::sigaction(SIGINT, &old_interrupt_, nullptr);
  ::sigaction(SIGTERM, &old_terminate_, nullptr);
  last_message = nullptr;
}

}  // namespace dragoman::base
