#pragma once

#include <string>
#include <vector>

#include "training/train_options.h"

namespace dragoman::training {

/// The documents that a task of running text learns from and validates on.
struct RunningTexts {
  /// Reads --text and --valid-text, or takes the last --valid-share of the text for validation.
  /// Throws: Error(kUsage) if both name validation text; as data::read_documents.
  explicit RunningTexts(const TrainOptions& options);

  std::vector<std::string> training;
  std::vector<std::string> validation;  ///< empty = there is none
  std::string fingerprint;              ///< of the training text
  std::string validation_fingerprint;   ///< "" = there is none
};

/// Returns: a hash of texts and of their borders.
std::string fingerprint_of_texts(const std::vector<std::string>& texts);

}  // namespace dragoman::training
