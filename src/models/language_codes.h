#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dragoman::models {

// Programs and models write one language in several ways: fr, FR and fra-Latn are French. BCP 47, DeepL, LibreTranslate
// and the models are all understood by one table. The common code is the shortest one of BCP 47.

/// Returns a code in its usual form: language in lower case, script with a capital, country in capitals. "PT_br"
/// becomes "pt-BR". Aliases, such as pb, zt, zh-CN and zh-TW of LibreTranslate, become the code that they mean.
[[nodiscard]] std::string tidy_language(std::string_view code);

/// Returns the language without script and country: "pt" for "pt-BR".
[[nodiscard]] std::string base_language(std::string_view code);

/// Returns the tidy code with the shortest code of its language: "fr-Latn" for "fra_Latn", "nb" for "no".
[[nodiscard]] std::string common_language(std::string_view code);

/// Returns a common code for each language of a model, by its own codes: "fr" for "fra_Latn" and "fr_XX". Script and
/// country are left out where no other language of the list needs them: "zh" and "zh-Hant" for "zho_Hans" and
/// "zho_Hant". No two results are equal, unless two of `own` are.
[[nodiscard]] std::vector<std::string> common_languages(const std::vector<std::string>& own);

/// Returns the one of `codes` that `asked` means, or an empty text if there is none. `asked` is in any case and may be
/// an alias (pb for pt-BR) or a code of a model (fra_Latn for fr). A code with a country finds the language alone. A
/// language alone finds a code with a country if there is only one.
[[nodiscard]] std::string match_language(std::string_view asked, const std::vector<std::string>& codes);

}  // namespace dragoman::models
