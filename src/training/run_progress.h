#pragma once

#include <cstdint>

#include "report/metrics_log.h"
#include "report/progress_line.h"
#include "training/data_parallel.h"
#include "training/run_clock.h"
#include "training/run_state.h"
#include "training/train_options.h"

namespace dragoman::training {

/// How far and how fast a run goes: the numbers of the progress line and of metrics.jsonl.
class RunProgress {
 public:
  /// @param epoch_tokens  target tokens of an epoch
  /// Requires: the first three outlive this.
  RunProgress(const TrainOptions& options, const RunState& state, const RunClock& clock, uint64_t epoch_tokens);

  /// Notes an update that `state` counts already.
  void note(const UpdateResult& result, double learning_rate);
  void note_reading(double seconds) { times_.data += seconds; }

  /// Returns: the passes over the text so far.
  double epoch() const;
  /// Returns: the state for the progress line.
  report::Progress line() const;
  /// Returns: the row of metrics.jsonl for the updates since the last row.
  report::TrainRow row() const;
  /// Returns: "time: 1% data, 40% forward, ...", of this part of the run. The rest of it is validation and saving.
  std::string where_time_went() const;

 private:
  double tokens_per_second() const;
  double divergence() const;
  double seconds_left() const;
  void add_time_limit(report::Progress& progress) const;

  const TrainOptions& options_;
  const RunState& state_;
  const RunClock& clock_;
  double epoch_tokens_;
  int64_t first_step_;        // updates of earlier parts of the run
  UpdateTimes times_;         // of all updates of this part
  double learning_rate_ = 0;  // of the last update
  double gradient_norm_ = 0;
};

}  // namespace dragoman::training
