#pragma once

namespace dragoman::distributed {

/// A detector of a process that does nothing but wait for others: a thread of it waits, nothing that it waits for
/// moves, and its threads use next to no processor time. If that is so on all ranks, they wait for each other for ever.
/// Times are seconds.
class IdleWatch {
 public:
  /// @param now  of a monotonic clock;  @param busy  processor time that the process has used, without the watching
  /// thread
  IdleWatch(double now, double busy) : since_(now), last_(now), busy_(busy) {}

  /// Returns for how long the process has been idle. Requires: a call every second. After a longer gap the process
  /// itself was stopped, and it begins anew.
  /// @param waits  whether a thread waits;  @param moved  whether anything has ended since the last call
  double idle(double now, double busy, bool waits, bool moved);

 private:
  double since_;
  double last_;  // call
  double busy_;  // at the last call
};

}  // namespace dragoman::distributed
