#include "serving/text/languages.h"

#include <unicode/locid.h>
#include <unicode/unistr.h>

namespace dragoman::serving {

std::string language_name(std::string_view code) {
  icu::UnicodeString name;
  icu::Locale::createCanonical(std::string(code).c_str()).getDisplayName(icu::Locale::getEnglish(), name);
  std::string text;
  name.toUTF8String(text);
  return text.empty() ? std::string(code) : text;
}

}  // namespace dragoman::serving
