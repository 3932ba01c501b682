#include <algorithm>
#include <array>
#include <utility>

#include "base/utf8.h"
#include "evaluation/text.h"
#include "evaluation/tokenizer.h"

namespace dragoman::evaluation {
namespace {

// The ranges that sacreBLEU sets apart, as its code behaves. Two of its entries were meant for the planes above
// U+FFFF but are written with four hexadecimal digits and a further character, so that they compare as
// U+2001..U+2A6D and U+2F81..U+2FA1; scores are comparable only with the same ranges.
constexpr std::array<std::pair<char32_t, char32_t>, 17> kChineseRanges = {{
    {0x2001, 0x2A6D},  // meant: extension B. Takes in general punctuation, arrows and mathematical signs
    {0x2E80, 0x2EFF},  // radicals, supplement
    {0x2F00, 0x2FDF},  // Kangxi radicals
    {0x2FF0, 0x2FFF},  // ideographic description
    {0x3000, 0x303F},  // punctuation
    {0x3100, 0x312F},  // Bopomofo
    {0x31A0, 0x31BF},  // Bopomofo, extended
    {0x31C0, 0x31EF},  // strokes
    {0x3200, 0x33FF},  // enclosed letters, compatibility
    {0x3400, 0x4DB5},  // ideographs, extension A
    {0x4E00, 0x9FBB},  // ideographs
    {0xF900, 0xFA2D},  // compatibility ideographs
    {0xFA30, 0xFA6A},  // compatibility ideographs
    {0xFA70, 0xFAD9},  // compatibility ideographs
    {0xFE10, 0xFE1F},  // vertical forms
    {0xFE30, 0xFE4F},  // compatibility forms
    {0xFF00, 0xFFEF},  // full- and half-width forms
}};

bool is_chinese(char32_t c) {
  return std::any_of(kChineseRanges.begin(), kChineseRanges.end(),
                     [c](const auto& range) { return c >= range.first && c <= range.second; });
}

constexpr size_t kLinesLookedAt = 1000;

}  // namespace

bool is_mostly_chinese(std::span<const std::string> lines) {
  size_t ideographs = 0, others = 0;
  for (const std::string& line : lines.first(std::min(lines.size(), kLinesLookedAt))) {
    for (const char32_t c : base::decode_utf8(line)) {
      const bool ideograph = (c >= 0x3400 && c <= 0x9FFF) || (c >= 0x20000 && c <= 0x3FFFF);
      ideographs += ideograph ? 1 : 0;
      others += ideograph || c <= U' ' || c == 0x3000 ? 0 : 1;
    }
  }
  return 2 * ideographs > others;
}

std::string tokenize_zh(std::string_view line) {
  std::u32string spaced;
  for (const char32_t c : base::decode_utf8(trim(line))) {
    if (is_chinese(c)) {
      spaced.append({U' ', c, U' '});
    } else {
      spaced += c;
    }
  }
  return separate_western_punctuation(base::encode_utf8(spaced));
}

}  // namespace dragoman::evaluation
