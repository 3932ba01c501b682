#include "data/vocabulary/bert_text.h"

#include <unicode/uchar.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/utf8.h"
#include "data/vocabulary/unicode_form.h"

namespace dragoman::data {
namespace {

// Characters that Unicode 8 puts into another category than ICU does.
constexpr std::array<std::pair<char32_t, uint32_t>, 6> kMoved = {{{0x166D, U_GC_PO_MASK},
                                                                  {0x1734, U_GC_MN_MASK},
                                                                  {0x1885, U_GC_LO_MASK},
                                                                  {0x1886, U_GC_LO_MASK},
                                                                  {0xA9BD, U_GC_MC_MASK},
                                                                  {0x111C9, U_GC_PO_MASK}}};

constexpr uint32_t kNoCategory = 0;

// The mask of the category in Unicode 8.
uint32_t category_of(char32_t c) {
  const auto code = static_cast<UChar32>(c);
  if (const auto moved = std::ranges::find(kMoved, c, &std::pair<char32_t, uint32_t>::first); moved != kMoved.end()) {
    return moved->second;
  }
  UVersionInfo age;
  u_charAge(code, age);
  return age[0] > 8 ? kNoCategory : U_GET_GC_MASK(code);
}

bool is_control(char32_t c) {
  constexpr uint32_t kOther = U_GC_CC_MASK | U_GC_CF_MASK | U_GC_CO_MASK;
  return c != '\t' && c != '\n' && c != '\r' && (category_of(c) & kOther) != 0;
}

bool is_space(char32_t c) {
  return u_isUWhiteSpace(static_cast<UChar32>(c)) != 0;
}

bool is_punctuation(char32_t c) {
  constexpr char32_t kAscii = 128;
  return c < kAscii ? u_ispunct(static_cast<UChar32>(c)) != 0 || std::u32string_view(U"$+<=>^`|~").find(c) < 9
                    : (category_of(c) & U_GC_P_MASK) != 0;
}

// The blocks of Chinese characters that BERT's authors list; the next to last begins 256 later than there, as in the
// `tokenizers` package.
bool is_chinese(char32_t c) {
  constexpr std::array<std::pair<char32_t, char32_t>, 8> kBlocks = {{{0x4E00, 0x9FFF},
                                                                     {0x3400, 0x4DBF},
                                                                     {0x20000, 0x2A6DF},
                                                                     {0x2A700, 0x2B73F},
                                                                     {0x2B740, 0x2B81F},
                                                                     {0x2B920, 0x2CEAF},
                                                                     {0xF900, 0xFAFF},
                                                                     {0x2F800, 0x2FA1F}}};
  return std::ranges::any_of(kBlocks, [c](const auto& block) { return block.first <= c && c <= block.second; });
}

void append_lower(std::u32string& text, char32_t c) {
  constexpr char32_t kCapitalDottedI = 0x130;  // the only character that becomes two
  if (c == kCapitalDottedI) {
    text += U"i\u0307";
  } else {
    text += static_cast<char32_t>(u_tolower(static_cast<UChar32>(c)));
  }
}

}  // namespace

std::string bert_cleaned(std::string_view text, const BertCleaning& cleaning) {
  std::u32string all = base::decode_utf8(text);
  if (cleaning.cleans) {
    std::erase_if(all, [](char32_t c) { return c == 0 || c == 0xFFFD || is_control(c); });
    std::ranges::replace_if(all, is_space, U' ');
  }
  std::u32string next;
  if (cleaning.spaces_chinese) {
    for (const char32_t c : all) {
      is_chinese(c) ? next.append({U' ', c, U' '}) : next.append(1, c);
    }
    all = std::exchange(next, {});
  }
  if (cleaning.strips_accents) {
    all = base::decode_utf8(in_form(base::encode_utf8(all), UnicodeForm::kNfd));
    std::erase_if(all, [](char32_t c) { return (category_of(c) & U_GC_MN_MASK) != 0; });
  }
  if (cleaning.lower_cases) {
    for (const char32_t c : all) {
      append_lower(next, c);
    }
    all = std::move(next);
  }
  return base::encode_utf8(all);
}

BertWord next_bert_word(std::string_view text, size_t at) {
  BertWord word{at, at};
  while (word.end < text.size()) {
    const base::CodePoint c = base::code_point_at(text, word.end);
    const bool is_empty = word.begin == word.end;
    if (is_space(c.value)) {
      if (!is_empty) {
        return word;
      }
      word.begin = word.end += c.bytes;
    } else if (is_punctuation(c.value)) {
      return is_empty ? BertWord{word.begin, word.end + c.bytes} : word;
    } else {
      word.end += c.bytes;
    }
  }
  return word;
}

}  // namespace dragoman::data
