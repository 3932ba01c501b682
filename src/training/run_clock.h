#pragma once

#include "distributed/process_group.h"

namespace dragoman::training {

/// The training time of a run in seconds, over all its parts: a resumed run goes on counting.
class RunClock {
 public:
  /// @param seconds_before  training time of earlier parts of the run
  void resume_at(double seconds_before) { before_ = agreed_ = seconds_before; }
  /// Begins to count, with the first update.
  void start();

  double seconds() const;
  /// Of this part of the run alone.
  double seconds_here() const { return seconds() - before_; }

  /// Makes the clock of the leading process count for all. Requires: all processes make the same calls.
  void agree(distributed::ProcessGroup& processes);
  /// As of the last `agree`; the same for all processes, so that decisions may rest on it.
  double agreed_seconds() const { return agreed_; }
  double agreed_seconds_here() const { return agreed_ - before_; }

 private:
  double before_ = 0.0;
  double start_ = 0.0;  // on the clock of the machine; 0 = not yet
  double agreed_ = 0.0;
};

}  // namespace dragoman::training
