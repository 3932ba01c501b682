#pragma once

#include <functional>

#include "report/metrics_log.h"
#include "report/progress_line.h"

namespace dragoman::training {

/// Functions that are told how a run goes. Each may be unset. What they throw ends the run without a checkpoint.
/// Threads: that of Trainer::run calls them.
struct RunListener {
  /// After each update. False ends the run as a signal does: it saves, and the same command goes on.
  std::function<bool(const report::Progress&)> on_update = {};
  std::function<void(const report::ValidationRow&)> on_validation = {};
};

}  // namespace dragoman::training
