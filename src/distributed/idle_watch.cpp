#include "distributed/idle_watch.h"

namespace dragoman::distributed {
namespace {

constexpr double kGap = 5.0;         // seconds between two calls
constexpr double kLook = 0.2;        // seconds between two looks at the processor time
constexpr double kIdleShare = 0.02;  // of a processor: housekeeping of libraries

}  // namespace

double IdleWatch::idle(double now, double busy, bool waits, bool moved) {
  if (!waits || moved || now - last_call_ > kGap) {
    since_ = now;
  }
  last_call_ = now;
  if (now - last_look_ >= kLook) {
    if (busy - busy_ > kIdleShare * (now - last_look_)) {
      since_ = now;
    }
    last_look_ = now;
    busy_ = busy;
  }
  return now - since_;
}

}  // namespace dragoman::distributed
