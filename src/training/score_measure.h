#pragma once

#include <string>

#include "training/run_options.h"

namespace dragoman::training {

/// What a validation score was measured with. Scores of different measures cannot be compared. A field that does not
/// change the score of the metric is empty: loss needs no search, and chrF no words.
struct ScoreMeasure {
  std::string metric;      ///< "bleu"; empty = not known (checkpoints of older versions)
  std::string tokenizer;   ///< of BLEU
  std::string beam;        ///< beam size of the translations
  std::string validation;  ///< Task::validation_fingerprint
  bool operator==(const ScoreMeasure&) const = default;
};

/// Returns: what a run with these options measures its scores with.
ScoreMeasure measure_of(const RunOptions& options, const std::string& validation_fingerprint);

/// Returns: what has changed, "metric chrf, now bleu; other validation text". Empty where nothing has, or where one of
/// the two is not known.
std::string changes_of(const ScoreMeasure& before, const ScoreMeasure& now);

}  // namespace dragoman::training
