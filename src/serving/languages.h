#pragma once

#include <string>
#include <string_view>

namespace dragoman::serving {

/// A language and a language.
struct LanguagePair {
  std::string source;  ///< code as model folders and clients are told: "en", "pt-BR", "zh-Hans"
  std::string target;
  bool operator==(const LanguagePair&) const = default;
};

/// True for what can be a language code (BCP 47, the part of it that servers use): a language of 2 or 3 letters, then
/// any number of parts of 1 to 8 letters or digits, each after a hyphen.
bool is_language_code(std::string_view code);

/// A code as people write it: language in lower case, a script of 4 letters with a capital, a country in capitals; the
/// aliases pb, zt and zh-CN, zh-TW of LibreTranslate and others in their long form. "PT_br" becomes "pt-BR".
std::string tidy_language(std::string_view code);

/// The language alone: "pt" of "pt-BR".
std::string base_language(std::string_view code);

/// "German", "Portuguese (Brazil)"; the code itself if nobody knows it.
std::string language_name(std::string_view code);

}  // namespace dragoman::serving
