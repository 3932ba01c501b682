#pragma once

#include "base/names.h"
#include "distributed/process_group.h"

namespace dragoman::training {

/// What the seconds of a run are counted by.
enum class TimeSource {
  kWall,       ///< the time that passes
  kProcessor,  ///< processor time of all threads of the process, divided by its workers
};

constexpr base::Names<TimeSource> names_of(TimeSource) {
  return {"clock", {{TimeSource::kWall, "wall"}, {TimeSource::kProcessor, "processor"}}};
}

/// The training time of a run in seconds, over all its parts: a resumed run goes on counting. Beside it the wall time
/// of this part.
class RunClock {
 public:
  /// @param seconds_before  training time of earlier parts of the run
  void resume_at(double seconds_before) { before_ = agreed_ = seconds_before; }
  /// Begins to count, with the first update. Requires: workers >= 1.
  void start(TimeSource source = TimeSource::kWall, int workers = 1);

  double seconds() const;
  /// Of this part of the run alone.
  double seconds_here() const { return seconds() - before_; }
  /// Wall time since the start of this part of the run.
  double wall_seconds_here() const;

  /// Makes the clock of the leading process count for all. Requires: all processes make the same calls.
  void agree(distributed::ProcessGroup& processes);
  /// As of the last `agree`; the same for all processes, so that decisions may rest on it.
  double agreed_seconds() const { return agreed_; }
  double agreed_wall_seconds_here() const { return agreed_wall_; }

 private:
  double now() const;

  TimeSource source_ = TimeSource::kWall;
  int workers_ = 1;
  bool is_started_ = false;
  double before_ = 0.0;
  double start_ = 0.0;       // as `now`
  double wall_start_ = 0.0;  // on the clock of the machine
  double agreed_ = 0.0;
  double agreed_wall_ = 0.0;
};

}  // namespace dragoman::training
