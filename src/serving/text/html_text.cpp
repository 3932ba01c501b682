#include "serving/text/html_text.h"

#include <charconv>
#include <optional>

#include "base/utf8.h"

namespace dragoman::serving {
namespace {

// The character of a reference such as "&amp;" or "&#x27;", and the length of the reference.
std::optional<std::pair<std::string, size_t>> reference_at(std::string_view text) {
  constexpr size_t kLongest = 12;
  const size_t end = text.substr(0, kLongest).find(';');
  if (end == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view name = text.substr(1, end - 1);
  if (name.starts_with('#')) {
    const bool is_hexadecimal = name.size() > 1 && (name[1] == 'x' || name[1] == 'X');
    const std::string_view digits = name.substr(is_hexadecimal ? 2 : 1);
    uint32_t code = 0;
    constexpr int kTen = 10;
    constexpr int kSixteen = 16;
    const auto [stop, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), code, is_hexadecimal ? kSixteen : kTen);
    constexpr uint32_t kLastCharacter = 0x10FFFF;
    const bool is_character = error == std::errc() && stop == digits.data() + digits.size() && !digits.empty() &&
                              code != 0 && code <= kLastCharacter;
    return is_character ? std::optional(std::pair(base::encode_utf8(std::u32string(1, code)), end + 1)) : std::nullopt;
  }
  constexpr std::pair<std::string_view, std::string_view> kNamed[] = {
      {"amp", "&"},    {"lt", "<"},     {"gt", ">"},     {"quot", "\""},  {"apos", "'"},   {"nbsp", "\u00A0"},
      {"auml", "ä"},   {"ouml", "ö"},   {"uuml", "ü"},   {"Auml", "Ä"},   {"Ouml", "Ö"},   {"Uuml", "Ü"},
      {"szlig", "ß"},  {"eacute", "é"}, {"egrave", "è"}, {"agrave", "à"}, {"ccedil", "ç"}, {"ecirc", "ê"},
      {"hellip", "…"}, {"ndash", "–"},  {"mdash", "—"},  {"lsquo", "‘"},  {"rsquo", "’"},  {"ldquo", "“"},
      {"rdquo", "”"},  {"bdquo", "„"},  {"laquo", "«"},  {"raquo", "»"},  {"euro", "€"},   {"copy", "©"}};
  for (const auto& [known, character] : kNamed) {
    if (name == known) {
      return std::pair(std::string(character), end + 1);
    }
  }
  return std::nullopt;
}

void append_character(std::string& words, std::string_view character) {
  if (character.size() != 1 || !is_blank(character)) {
    words += character;
  } else if (!words.empty() && !words.ends_with(' ')) {
    words += ' ';
  }
}

}  // namespace

void append_plain_words(std::string& words, std::string_view html) {
  for (size_t i = 0; i < html.size();) {
    if (const auto reference = html[i] == '&' ? reference_at(html.substr(i)) : std::nullopt) {
      append_character(words, reference->first);
      i += reference->second;
    } else {
      append_character(words, html.substr(i++, 1));
    }
  }
}

std::string escaped_html(std::string_view text) {
  std::string result;
  for (const char c : text) {
    result += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string(1, c);
  }
  return result;
}

}  // namespace dragoman::serving
