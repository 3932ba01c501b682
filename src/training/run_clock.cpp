#include "training/run_clock.h"

#include "base/lap.h"

namespace dragoman::training {

void RunClock::start() {
  start_ = base::steady_seconds();
}

double RunClock::seconds() const {
  return before_ + (start_ > 0.0 ? base::steady_seconds() - start_ : 0.0);
}

void RunClock::agree(distributed::ProcessGroup& processes) {
  agreed_ = processes.maximum(processes.leads() ? seconds() : 0.0);
}

}  // namespace dragoman::training
