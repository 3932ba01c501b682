#pragma once

#include <string>
#include <string_view>

#include "models/languages.h"

namespace dragoman::serving {

using models::is_language_code;
using models::LanguagePair;

/// A code as people write it: language in lower case, a script of 4 letters with a capital, a country in capitals; the
/// aliases pb, zt and zh-CN, zh-TW of LibreTranslate and others in their long form. "PT_br" becomes "pt-BR".
std::string tidy_language(std::string_view code);

/// The language alone: "pt" of "pt-BR".
std::string base_language(std::string_view code);

/// "German", "Portuguese (Brazil)"; the code itself if nobody knows it.
std::string language_name(std::string_view code);

}  // namespace dragoman::serving
