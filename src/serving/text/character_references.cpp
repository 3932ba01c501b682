#include "serving/text/character_references.h"

#include <algorithm>
#include <array>

#include "base/utf8.h"

namespace dragoman::serving {
namespace {

struct Named {
  std::string_view name;  // with its semicolon, if it has one
  std::string_view characters;
};

constexpr Named kNamed[] = {
#include "serving/text/character_references.inc"
};

constexpr size_t kLongestName =
    std::ranges::max(kNamed, {}, [](const Named& named) { return named.name.size(); }).name.size();

constexpr char32_t kReplacement = 0xFFFD;
constexpr char32_t kLastCharacter = 0x10FFFF;

// What HTML reads for the numbers from 128 on: windows-1252. 0 = the number itself.
constexpr std::array<char32_t, 32> kWindows1252 = {0x20AC, 0,      0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021,
                                                   0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0,      0x017D, 0,
                                                   0,      0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014,
                                                   0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0,      0x017E, 0x0178};

bool is_alphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// Returns the value of a digit, or `base` for any other character.
char32_t digit_value(char c, char32_t base) {
  constexpr char32_t kTen = 10;
  const char32_t value = c >= '0' && c <= '9'   ? static_cast<char32_t>(c - '0')
                         : c >= 'a' && c <= 'f' ? static_cast<char32_t>(c - 'a') + kTen
                         : c >= 'A' && c <= 'F' ? static_cast<char32_t>(c - 'A') + kTen
                                                : base;
  return std::min(value, base);
}

char32_t character_of(char32_t number, ReferencePlace place) {
  constexpr char32_t kFirstSurrogate = 0xD800;
  constexpr char32_t kLastSurrogate = 0xDFFF;
  constexpr char32_t kFirstWindows = 0x80;
  if (number == 0 || number > kLastCharacter || (number >= kFirstSurrogate && number <= kLastSurrogate)) {
    return kReplacement;
  }
  const bool is_windows =
      place != ReferencePlace::kXml && number >= kFirstWindows && number < kFirstWindows + kWindows1252.size();
  const char32_t mapped = is_windows ? kWindows1252.at(number - kFirstWindows) : 0;
  return mapped != 0 ? mapped : number;
}

std::optional<CharacterReference> numeric_character(std::string_view text, ReferencePlace place) {
  constexpr char32_t kDecimal = 10;
  constexpr char32_t kHexadecimal = 16;
  const bool is_hexadecimal = text.size() > 2 && (text[2] == 'x' || text[2] == 'X');
  const char32_t base = is_hexadecimal ? kHexadecimal : kDecimal;
  const size_t begin = is_hexadecimal ? 3 : 2;
  size_t end = begin;
  char32_t number = 0;
  for (; end < text.size() && digit_value(text[end], base) != base; ++end) {
    number = std::min(number * base + digit_value(text[end], base), kLastCharacter + 1);
  }
  if (end == begin) {
    return std::nullopt;
  }
  const bool has_semicolon = end < text.size() && text[end] == ';';
  return CharacterReference{base::encode_utf8(std::u32string(1, character_of(number, place))),
                            end + (has_semicolon ? 1 : 0)};
}

std::optional<CharacterReference> named_character(std::string_view text, ReferencePlace place) {
  const std::string_view rest = text.substr(1, kLongestName);
  size_t length = 0;
  while (length < rest.size() && is_alphanumeric(rest[length])) {
    ++length;
  }
  length += length < rest.size() && rest[length] == ';' ? 1 : 0;
  for (; length > 1; --length) {  // the longest name
    const std::string_view name = rest.substr(0, length);
    const auto* const found = std::ranges::lower_bound(kNamed, name, {}, &Named::name);
    if (found == std::end(kNamed) || found->name != name) {
      continue;
    }
    const char next = length + 1 < text.size() ? text[length + 1] : '\0';
    const bool is_text =
        place == ReferencePlace::kHtmlAttribute && !name.ends_with(';') && (next == '=' || is_alphanumeric(next));
    return is_text ? std::nullopt : std::optional(CharacterReference{std::string(found->characters), length + 1});
  }
  return std::nullopt;
}

}  // namespace

std::optional<CharacterReference> reference_at(std::string_view text, ReferencePlace place) {
  if (text.size() > 1 && text[1] == '#') {
    return numeric_character(text, place);
  }
  auto reference = named_character(text, place);
  const bool is_known = reference && (place != ReferencePlace::kXml || text[reference->size - 1] == ';');
  return is_known ? std::move(reference) : std::nullopt;
}

std::string with_references_decoded(std::string_view text, ReferencePlace place) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    const auto reference = text[at] == '&' ? reference_at(text.substr(at), place) : std::nullopt;
    result += reference ? reference->characters : std::string(1, text[at]);
    at += reference ? reference->size : 1;
  }
  return result;
}

}  // namespace dragoman::serving
