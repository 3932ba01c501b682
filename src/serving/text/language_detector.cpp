#include "serving/text/language_detector.h"

#include <cld2/public/compact_lang_det.h>
#include <cld2/public/encodings.h>

#include <algorithm>
#include <cstdio>

#include "serving/text/languages.h"

namespace dragoman::serving {
namespace {

constexpr int kCandidates = 3;  // number of languages that the library returns
constexpr double kUnsure = 50.0;
// More text does not change the result.
constexpr size_t kMostBytes = size_t{64} << 10;

// Returns the one of `codes` that a detected language means: the language, or its base. The library has zh and zh-Hant.
const std::string* served_as(const std::string& detected, std::span<const std::string> codes) {
  const auto common_base = [](const std::string& code) { return base_language(models::common_language(code)); };
  const std::string tidy = tidy_language(detected);
  const auto same = std::ranges::find(codes, tidy);
  const auto kin = same != codes.end() ? same : std::ranges::find(codes, common_base(tidy), common_base);
  return kin == codes.end() ? nullptr : &*kin;
}

}  // namespace

std::vector<DetectedLanguage> detect_language(std::string_view text, std::span<const std::string> codes) {
  CLD2::Language languages[kCandidates];
  int percents[kCandidates];
  double scores[kCandidates];
  int letters = 0;
  int valid_bytes = 0;
  bool is_reliable = false;
  const CLD2::CLDHints no_hints{nullptr, nullptr, CLD2::UNKNOWN_ENCODING, CLD2::UNKNOWN_LANGUAGE};
  CLD2::ExtDetectLanguageSummaryCheckUTF8(text.data(), static_cast<int>(std::min(text.size(), kMostBytes)), true,
                                          &no_hints, CLD2::kCLDFlagBestEffort, languages, percents, scores, nullptr,
                                          &letters, &is_reliable, &valid_bytes);
  std::vector<DetectedLanguage> detected;
  for (int i = 0; i < kCandidates; ++i) {
    const std::string* code = served_as(CLD2::LanguageCode(languages[i]), codes);
    if (code != nullptr && percents[i] > 0 &&
        std::ranges::find(detected, *code, &DetectedLanguage::code) == detected.end()) {
      const double percent = percents[i];
      detected.push_back({*code, is_reliable ? percent : std::min(percent, kUnsure)});
    }
  }
  if (detected.empty()) {
    detected.push_back({codes.front(), 0.0});
  }
  return detected;
}

}  // namespace dragoman::serving
