#pragma once

#include <string>
#include <string_view>

#include "models/languages.h"

namespace dragoman::serving {

using models::is_language_code;
using models::LanguagePair;

/// Returns a code in its usual form: language in lower case, script with a capital, country in capitals. "PT_br"
/// becomes "pt-BR". Aliases, such as pb, zt, zh-CN and zh-TW of LibreTranslate, become the code that they mean.
[[nodiscard]] std::string tidy_language(std::string_view code);

/// Returns the language without script and country: "pt" for "pt-BR".
[[nodiscard]] std::string base_language(std::string_view code);

/// Returns the English name: "German", "Portuguese (Brazil)". For an unknown code it is the code.
[[nodiscard]] std::string language_name(std::string_view code);

}  // namespace dragoman::serving
