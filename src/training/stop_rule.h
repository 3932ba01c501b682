#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "training/run_clock.h"
#include "training/run_options.h"
#include "training/run_state.h"

namespace dragoman::training {

/// Why a run came to its end.
enum class StopReason { kMaxSteps, kMaxEpochs, kTotalTime, kMaxTime, kEarlyStop, kSignal, kRequested };

/// Returns: the reason in words: "finished: all steps done".
std::string stop_text(StopReason reason);

/// Whether a run that stopped for this reason is over; otherwise the same command goes on with it.
constexpr bool is_over(StopReason reason) {
  return reason != StopReason::kSignal && reason != StopReason::kMaxTime && reason != StopReason::kRequested;
}

/// When a run stops. A pure function of what all processes agree about, so that they stop together.
/// @param exit_status  the largest of base::StopSignals of all processes; 0 = no signal
/// @param epoch  of the next batch, from 0
std::optional<StopReason> reason_to_stop(const RunOptions& options, const RunState& state, const RunClock& clock,
                                         uint64_t epoch, int exit_status);

}  // namespace dragoman::training
