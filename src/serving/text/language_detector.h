#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dragoman::serving {

/// A possible language of a text.
struct DetectedLanguage {
  std::string code;         ///< one of the given codes
  double confidence = 0.0;  ///< percent of the text, 0 to 100; at most 50 if the text is too short for certainty
};

/// Returns the languages of a text among `codes`, most likely first. If none of them is detected, it returns the first
/// code with confidence 0. The answer depends on the arguments only. The detector is Compact Language Detector 2, with
/// the quadgrams of 80 languages (docs/decisions/language_detection.md).
/// Requires: `text` is valid UTF-8, and there is at least one code.
[[nodiscard]] std::vector<DetectedLanguage> detect_language(std::string_view text, std::span<const std::string> codes);

}  // namespace dragoman::serving
