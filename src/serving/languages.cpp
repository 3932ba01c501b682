#include "serving/languages.h"

#include <unicode/locid.h>
#include <unicode/unistr.h>

#include <algorithm>

#include "serving/http_message.h"

namespace dragoman::serving {
namespace {

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_letter_or_digit(char c) {
  return is_letter(c) || (c >= '0' && c <= '9');
}

}  // namespace

bool is_language_code(std::string_view code) {
  const std::string_view language = code.substr(0, code.find('-'));
  if (language.size() < 2 || language.size() > 3 || !std::ranges::all_of(language, is_letter)) {
    return false;
  }
  for (std::string_view rest = code.substr(language.size()); !rest.empty();) {
    rest.remove_prefix(1);
    const std::string_view part = rest.substr(0, rest.find('-'));
    constexpr size_t kLongestPart = 8;
    if (part.empty() || part.size() > kLongestPart || !std::ranges::all_of(part, is_letter_or_digit)) {
      return false;
    }
    rest.remove_prefix(part.size());
  }
  return true;
}

std::string tidy_language(std::string_view code) {
  std::string tidy = lower_case(code);
  std::ranges::replace(tidy, '_', '-');
  if (tidy == "pb") {
    return "pt-BR";
  }
  if (tidy == "zt" || tidy == "zh-tw") {
    return "zh-Hant";
  }
  if (tidy == "zh-cn") {
    return "zh-Hans";
  }
  constexpr size_t kScript = 4;
  constexpr size_t kCountry = 2;
  for (size_t at = tidy.find('-'); at != std::string::npos; at = tidy.find('-', at + 1)) {
    const size_t size = std::min(tidy.find('-', at + 1), tidy.size()) - at - 1;
    const size_t capitals = size == kScript ? 1 : size == kCountry ? 2 : 0;
    tidy.replace(at + 1, capitals, upper_case(tidy.substr(at + 1, capitals)));
  }
  return tidy;
}

std::string base_language(std::string_view code) {
  return std::string(code.substr(0, code.find('-')));
}

std::string language_name(std::string_view code) {
  icu::UnicodeString name;
  icu::Locale::createCanonical(std::string(code).c_str()).getDisplayName(icu::Locale::getEnglish(), name);
  std::string text;
  name.toUTF8String(text);
  return text.empty() ? std::string(code) : text;
}

}  // namespace dragoman::serving
