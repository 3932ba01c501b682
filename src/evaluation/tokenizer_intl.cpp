#include <unicode/uchar.h>

#include "base/utf8.h"
#include "evaluation/tokenizer.h"

namespace dragoman::evaluation {
namespace {

bool has_category(char32_t c, uint32_t mask) {
  return (U_GET_GC_MASK(static_cast<UChar32>(c)) & mask) != 0;
}
bool is_number(char32_t c) {
  return has_category(c, U_GC_N_MASK);
}
bool is_punctuation(char32_t c) {
  return has_category(c, U_GC_P_MASK);
}
bool is_symbol(char32_t c) {
  return has_category(c, U_GC_S_MASK);
}

// Punctuation after a character that is no number: "x," becomes "x , ". Matched pairs never overlap.
std::u32string separate_after_non_number(const std::u32string& line) {
  std::u32string result;
  size_t at = 0;
  while (at < line.size()) {
    if (at + 1 < line.size() && is_punctuation(line[at + 1]) && !is_number(line[at])) {
      result.append({line[at], U' ', line[at + 1], U' '});
      at += 2;
    } else {
      result += line[at++];
    }
  }
  return result;
}

// Punctuation before a character that is no number: ",x" becomes " , x". Matched pairs never overlap.
std::u32string separate_before_non_number(const std::u32string& line) {
  std::u32string result;
  size_t at = 0;
  while (at < line.size()) {
    if (at + 1 < line.size() && is_punctuation(line[at]) && !is_number(line[at + 1])) {
      result.append({U' ', line[at], U' ', line[at + 1]});
      at += 2;
    } else {
      result += line[at++];
    }
  }
  return result;
}

}  // namespace

// A number followed by a period at the very end of the line stays one word: so does mteval-v14.
std::string tokenize_intl(std::string_view line) {
  const std::u32string separated = separate_before_non_number(separate_after_non_number(base::decode_utf8(line)));
  std::u32string result;
  result.reserve(separated.size());
  for (const char32_t c : separated) {
    if (is_symbol(c)) {
      result.append({U' ', c, U' '});
    } else {
      result += c;
    }
  }
  return base::encode_utf8(result);
}

}  // namespace dragoman::evaluation
