#pragma once

#include <string>
#include <string_view>

#include "models/languages.h"

namespace dragoman::serving {

using models::base_language;
using models::is_language_code;
using models::LanguagePair;
using models::tidy_language;

/// Returns the English name: "German", "Portuguese (Brazil)". For an unknown code it is the code.
[[nodiscard]] std::string language_name(std::string_view code);

}  // namespace dragoman::serving
