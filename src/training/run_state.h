#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "training/loss_sums.h"
#include "training/score_measure.h"

namespace dragoman::training {

/// Everything about a run that is not a tensor: with weights and optimizer state it makes a resumed run the run that
/// never stopped. Random numbers need no state: they are keyed by seed and step.
struct RunState {
  int64_t step = 0;                  ///< updates attempted
  int64_t applied_updates = 0;       ///< of these, with finite gradients
  int64_t skipped_in_a_row = 0;      ///< the latest updates with non-finite gradients
  double seconds = 0.0;              ///< training time over all parts of the run
  int64_t target_tokens = 0;         ///< trained on so far
  int64_t best_step = 0;             ///< 0 = none yet
  double best_score = 0.0;           ///< of the chosen metric; higher is better
  int64_t stale_validations = 0;     ///< validations since the best one
  std::map<int64_t, double> scores;  ///< of the checkpoints that are kept
  ScoreMeasure measure;              ///< of all these scores
  std::string batcher;               ///< position in the data, JSON text
  std::string fingerprint;           ///< of the training text
  int processes = 1;                 ///< that trained it, and
  int workers = 1;                   ///< replicas of each
  LossSums window;                   ///< since the last row of metrics.jsonl
  double window_start = 0.0;         ///< of the window, in `seconds`

  int64_t skipped_updates() const { return step - applied_updates; }
  /// Forgets all scores, and with them patience.
  void begin_comparison() {
    best_step = 0;
    best_score = 0.0;
    stale_validations = 0;
    scores.clear();
  }
};

std::string to_json(const RunState& state);
/// Reads checkpoints of older versions too, which do not say what scores were measured with.
/// Throws Error(kBadData) naming `file_name` for missing or wrong fields.
RunState run_state_from_json(std::string_view text, std::string_view file_name);

}  // namespace dragoman::training
