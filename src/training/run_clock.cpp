#include "training/run_clock.h"

#include "base/lap.h"

namespace dragoman::training {

double RunClock::now() const {
  return source_ == TimeSource::kWall ? base::steady_seconds() : base::processor_seconds() / workers_;
}

void RunClock::start(TimeSource source, int workers) {
  source_ = source;
  workers_ = workers;
  is_started_ = true;
  start_ = now();
  wall_start_ = base::steady_seconds();
}

double RunClock::seconds() const {
  return before_ + (is_started_ ? now() - start_ : 0.0);
}

double RunClock::wall_seconds_here() const {
  return is_started_ ? base::steady_seconds() - wall_start_ : 0.0;
}

void RunClock::agree(distributed::ProcessGroup& processes) {
  agreed_ = processes.maximum(processes.leads() ? seconds() : 0.0);
  agreed_wall_ = source_ == TimeSource::kWall ? agreed_ - before_
                                              : processes.maximum(processes.leads() ? wall_seconds_here() : 0.0);
}

}  // namespace dragoman::training
