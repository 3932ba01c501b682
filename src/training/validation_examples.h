#pragma once

#include <cmath>
#include <cstddef>
#include <iterator>
#include <vector>

#include "base/error.h"
#include "training/train_options.h"

namespace dragoman::training {

/// Throws: Error(kUsage) if --valid-text and --valid-share both name validation text.
inline void check_one_validation(const TrainOptions& options) {
  base::check_usage(options.valid_text.empty() || options.running_text.valid_share == 0.0,
                    "train: --valid-text and --valid-share both name validation text; leave one out");
}

/// Returns the validation examples: those that read(--valid-text) returns, or with --valid-share the last ones of the
/// training text, which it loses; none where neither is given.
/// Throws: Error(kUsage) as check_one_validation, and if no example is left on one side.
template <typename Example, typename Read>
std::vector<Example> validation_examples(std::vector<Example>& training, const TrainOptions& options, Read read) {
  check_one_validation(options);
  const double share = options.running_text.valid_share;
  if (!options.valid_text.empty()) {
    return read(options.valid_text);
  }
  if (share == 0.0) {
    return {};
  }
  const auto total = static_cast<double>(training.size());
  const auto kept = static_cast<std::ptrdiff_t>(std::floor(total * (1.0 - share)));
  base::check_usage(kept > 0 && kept < std::ssize(training),
                    "valid_share is {}, which leaves nothing of {} examples on one side", share, training.size());
  std::vector<Example> last(std::make_move_iterator(training.begin() + kept), std::make_move_iterator(training.end()));
  training.erase(training.begin() + kept, training.end());
  return last;
}

}  // namespace dragoman::training
