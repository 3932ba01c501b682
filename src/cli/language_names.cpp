#include "cli/language_names.h"

#include <unicode/locid.h>
#include <unicode/unistr.h>

namespace dragoman::cli {

std::string language_name(const std::string& code) {
  UErrorCode status = U_ZERO_ERROR;
  const icu::Locale locale = icu::Locale::forLanguageTag(code, status);
  if (U_FAILURE(status)) {
    return code;
  }
  icu::UnicodeString name;
  locale.getDisplayName(icu::Locale::getEnglish(), name);
  std::string text;
  name.toUTF8String(text);
  return text.empty() ? code : text;
}

}  // namespace dragoman::cli
