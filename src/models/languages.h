#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace dragoman::models {

/// A language and a language.
struct LanguagePair {
  std::string source;  ///< code as people write it: "en", "pt-BR", "zh-Hans"
  std::string target;
  bool operator==(const LanguagePair&) const = default;
};

/// True for what can be a language code (BCP 47, the part of it that servers use): a language of 2 or 3 letters, then
/// any number of parts of 1 to 8 letters or digits, each after a hyphen.
bool is_language_code(std::string_view code);

/// The language of a text file by the end of its name, when that is a code of ISO 639-1: "de" of "train.de.gz". A
/// script or country behind the code is kept: "zh-Hant" of "train.zh-Hant". Empty for "train.txt".
std::string language_of_file(const std::filesystem::path& file);

/// The languages of a pair of text files by the ends of their names, when both end in a code of ISO 639-1 and not the
/// same: en and de of "train.en" and "train.de.gz". Nothing for "train.txt".
std::optional<LanguagePair> languages_of_files(const std::filesystem::path& source,
                                               const std::filesystem::path& target);

/// The text of languages.json in a model folder, and back. {"source": "en", "target": "de"}
/// The reader throws Error(kBadData): "languages.json: must be {\"source\": CODE, \"target\": CODE}; correct it".
std::string languages_json(const LanguagePair& pair);
LanguagePair languages_from_json(std::string_view text, std::string_view file_name);

}  // namespace dragoman::models
