#include "evaluation/ter.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/utf8.h"
#include "evaluation/text.h"
#include "evaluation/tokenizer.h"
#include "evaluation/translation_edits.h"

namespace dragoman::evaluation {
namespace {

// Columns of the counts.
constexpr size_t kEdits = 0;
constexpr size_t kMeanLength = 1;
constexpr size_t kTerColumns = 2;

using Range = std::pair<char32_t, char32_t>;

// The characters that sacreBLEU sets apart, as its code behaves. Its range for enclosed letters ends at U+3F22, not at
// U+32FF; scores are comparable only with the same ranges. Hiragana and katakana stay whole.
constexpr std::array<Range, 7> kAsianCharacters = {{
    {0x2E80, 0x2EFF},  // radicals, supplement
    {0x31C0, 0x31EF},  // strokes
    {0x3200, 0x3F22},  // enclosed letters, compatibility, and a part of extension A
    {0x3400, 0x4DBF},  // ideographs, extension A
    {0x4E00, 0x9FFF},  // ideographs
    {0xF900, 0xFAFF},  // compatibility ideographs
    {0xFE30, 0xFE4F},  // compatibility forms
}};
constexpr std::array<Range, 8> kAsianPunctuation = {{
    {0x3001, 0x3002},
    {0x3008, 0x3011},
    {0x3014, 0x301F},
    {0x30FB, 0x30FB},
    {0xFF01, 0xFF02},
    {0xFF08, 0xFF09},
    {0xFF0C, 0xFF0C},
    {0xFF61, 0xFF65},
}};
constexpr std::u32string_view kFullWidthStops = U"\uFF0E\uFF1A\uFF1B\uFF1F";
constexpr std::string_view kPunctuation = ".,?:;!\"()";

bool is_in(std::span<const Range> ranges, char32_t c) {
  return std::ranges::any_of(ranges, [c](const Range& range) { return c >= range.first && c <= range.second; });
}

bool is_asian_punctuation(char32_t c) {
  return is_in(kAsianPunctuation, c) || kFullWidthStops.find(c) != std::u32string_view::npos;
}

std::string set_asian_apart(std::string_view line) {
  std::u32string spaced;
  for (const char32_t c : base::decode_utf8(line)) {
    if (is_in(kAsianCharacters, c) || is_asian_punctuation(c)) {
      spaced.append({U' ', c, U' '});
    } else {
      spaced += c;
    }
  }
  return base::encode_utf8(spaced);
}

std::string normalize(const TerOptions& options, std::string_view line) {
  std::string text = separate_western_punctuation(" " + replace_entities(line) + " ", Possessive::kApart);
  return options.asian_support ? set_asian_apart(text) : text;
}

std::string remove_punctuation(const TerOptions& options, std::string_view line) {
  std::u32string kept;
  for (const char32_t c : base::decode_utf8(line)) {
    const bool western = c < 0x80 && kPunctuation.find(static_cast<char>(c)) != std::string_view::npos;
    if (!western && !(options.asian_support && is_asian_punctuation(c))) {
      kept += c;
    }
  }
  return base::encode_utf8(kept);
}

// sacreBLEU applies the rules to a reference twice, which matters where the first time leaves something to set apart:
// "..1" becomes ". .1" and then ". . 1". Scores are comparable only if it is done here, too.
std::string tokenize_reference(const TerOptions& options, std::string_view line) {
  const std::string once = tokenize_for_ter(options, line);
  return tokenize_for_ter(options, fmt::format("{}", fmt::join(split_words(once), " ")));
}

template <typename Real>
Real edit_rate(std::span<const Real> sums) {
  if (sums[kMeanLength] > 0) {
    return 100 * (sums[kEdits] / sums[kMeanLength]);
  }
  return sums[kEdits] > 0 ? 100 : 0;
}

}  // namespace

std::string tokenize_for_ter(const TerOptions& options, std::string_view line) {
  std::string text(trim_right(line));
  if (!options.case_sensitive) {
    text = lower_case(text);
  }
  if (options.normalized) {
    text = normalize(options, text);
  }
  return options.no_punctuation ? remove_punctuation(options, text) : text;
}

CountTable Ter::count(Lines hypothesis, std::span<const Lines> references) const {
  check_same_lines(hypothesis, references);
  CountTable table(hypothesis.size(), kTerColumns);
  WordNumbers vocabulary;
  const auto numbers = [&](const std::string& text) { return vocabulary.numbers(split_words(text)); };
  for (size_t i = 0; i < hypothesis.size(); ++i) {
    const Symbols candidate = numbers(tokenize_for_ter(options_, hypothesis[i]));
    int64_t fewest = INT64_MAX;
    size_t length = 0;
    for (const Lines& lines : references) {
      const Symbols reference = numbers(tokenize_reference(options_, lines[i]));
      fewest = std::min(fewest, translation_edits(candidate, reference));
      length += reference.size();
    }
    table.row(i)[kEdits] = static_cast<double>(fewest);
    table.row(i)[kMeanLength] = static_cast<double>(length) / static_cast<double>(references.size());
  }
  return table;
}

double Ter::score(std::span<const double> sums) const {
  return edit_rate(sums);
}

double Ter::resampled_score(std::span<const float> sums) const {
  return edit_rate(sums);
}

Signature Ter::signature(size_t n_references, const Resampling& resampling) const {
  const auto yes = [](bool value) { return value ? "yes" : "no"; };
  Signature signature = open_signature(n_references, resampling);
  signature.add("case", options_.case_sensitive ? "mixed" : "lc");
  signature.add("tok", "tercom");
  signature.add("norm", yes(options_.normalized));
  signature.add("punct", yes(!options_.no_punctuation));
  signature.add("asian", yes(options_.asian_support));
  signature.add("version", kSignatureVersion);
  return signature;
}

}  // namespace dragoman::evaluation
