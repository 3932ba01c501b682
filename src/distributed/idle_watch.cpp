#include "distributed/idle_watch.h"

namespace dragoman::distributed {
namespace {

constexpr double kGap = 5.0;         // seconds between two calls
constexpr double kIdleShare = 0.02;  // of a processor: housekeeping of libraries

}  // namespace

double IdleWatch::idle(double now, double busy, bool waits, bool moved) {
  const bool works = busy - busy_ > kIdleShare * (now - last_);
  if (!waits || moved || works || now - last_ > kGap) {
    since_ = now;
  }
  last_ = now;
  busy_ = busy;
  return now - since_;
}

}  // namespace dragoman::distributed
