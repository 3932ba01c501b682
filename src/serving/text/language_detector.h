#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dragoman::serving {

/// A language that a text may be in.
struct DetectedLanguage {
  std::string code;         ///< one of the codes asked for
  double confidence = 0.0;  ///< percent of the text, 0 to 100; at most 50 when the text is too short to be sure
};

/// Which of `codes` a text is in, likeliest first, by Compact Language Detector 2 (quadgrams of 80 languages, one page
/// of tables; docs/decisions/language_detection.md). Languages that are not among `codes` are left out. When nothing is
/// left, the first of `codes` with confidence 0: the same answer for the same text, always.
/// @param text  valid UTF-8;  @param codes  at least one
std::vector<DetectedLanguage> detect_language(std::string_view text, std::span<const std::string> codes);

}  // namespace dragoman::serving
