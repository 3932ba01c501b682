#include "training/stop_rule.h"

namespace dragoman::training {

std::string stop_text(StopReason reason) {
  switch (reason) {
    case StopReason::kMaxSteps:
      return "finished: all steps done";
    case StopReason::kMaxEpochs:
      return "finished: all epochs done";
    case StopReason::kTotalTime:
      return "finished: the time of the run is used up";
    case StopReason::kMaxTime:
      return "stopped: time is up; run the same command to go on";
    case StopReason::kEarlyStop:
      return "finished: no improvement any more";
    case StopReason::kSignal:
      return "stopped by a signal; run the same command to go on";
    case StopReason::kRequested:
      return "stopped on request; run the same command to go on";
  }
  return "finished";
}

std::optional<StopReason> reason_to_stop(const RunOptions& options, const RunState& state, const RunClock& clock,
                                         uint64_t epoch, int exit_status) {
  if (exit_status != 0) {
    return StopReason::kSignal;
  }
  if (options.patience > 0 && state.stale_validations >= options.patience) {
    return StopReason::kEarlyStop;
  }
  if (state.step >= options.max_steps) {
    return StopReason::kMaxSteps;
  }
  if (options.max_epochs > 0 && epoch >= static_cast<uint64_t>(options.max_epochs)) {
    return StopReason::kMaxEpochs;
  }
  if (options.total_minutes > 0.0 && clock.agreed_seconds() >= 60.0 * options.total_minutes) {
    return StopReason::kTotalTime;
  }
  if (options.max_minutes > 0.0 && clock.agreed_wall_seconds_here() >= 60.0 * options.max_minutes) {
    return StopReason::kMaxTime;
  }
  return std::nullopt;
}

}  // namespace dragoman::training
