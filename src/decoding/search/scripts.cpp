#include "decoding/search/scripts.h"

#include <algorithm>
#include <array>

namespace dragoman::decoding {
namespace {

struct Range {
  char32_t first, last;
};

// Blocks of Unicode 15.
constexpr std::array kWithoutSpaces = {
    Range{0x0E00, 0x0EFF},    // Thai, Lao
    Range{0x1000, 0x109F},    // Myanmar
    Range{0x1780, 0x17FF},    // Khmer
    Range{0x2E80, 0x312F},    // radicals, CJK punctuation, kana, bopomofo
    Range{0x3190, 0xA4CF},    // kanbun, CJK ideographs, Yi
    Range{0xF900, 0xFAFF},    // CJK compatibility ideographs
    Range{0xFE30, 0xFE4F},    // CJK compatibility forms
    Range{0xFF00, 0xFFEF},    // full-width forms
    Range{0x1B000, 0x1B16F},  // more kana
    Range{0x20000, 0x3FFFF},  // more CJK ideographs
};

}  // namespace

bool written_without_spaces(char32_t c) {
  return std::ranges::any_of(kWithoutSpaces, [c](const Range& range) { return c >= range.first && c <= range.last; });
}

bool is_word_character(char32_t c) {
  const bool ascii = (c >= U'0' && c <= U'9') || (c >= U'A' && c <= U'Z') || (c >= U'a' && c <= U'z');
  const bool punctuation = c >= 0x2000 && c <= 0x206F;
  return ascii || (c >= 0xC0 && c < 0x2E80 && !punctuation && !written_without_spaces(c));
}

}  // namespace dragoman::decoding
