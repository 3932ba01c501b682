#include "serving/text/languages.h"

#include <unicode/locid.h>
#include <unicode/unistr.h>

#include <algorithm>

#include "base/ascii.h"

namespace dragoman::serving {
std::string tidy_language(std::string_view code) {
  std::string tidy = base::ascii_lower_case(code);
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
    tidy.replace(at + 1, capitals, base::ascii_upper_case(tidy.substr(at + 1, capitals)));
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
