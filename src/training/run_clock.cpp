#include "training/run_clock.h"

#include <chrono>

namespace dragoman::training {
namespace {

double clock_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

void RunClock::start() {
  start_ = clock_seconds();
}

double RunClock::seconds() const {
  return before_ + (start_ > 0.0 ? clock_seconds() - start_ : 0.0);
}

void RunClock::agree(distributed::ProcessGroup& processes) {
  agreed_ = processes.maximum(processes.leads() ? seconds() : 0.0);
}

}  // namespace dragoman::training
