#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/language_codes.h"

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

/// The languages of several pairs of text files, as far as names say them, each once: two pairs where a model learns
/// both directions. Scripts and countries make no other language; the first spelling stays.
std::vector<LanguagePair> pairs_of_files(std::span<const std::filesystem::path> sources,
                                         std::span<const std::filesystem::path> targets);

/// A language that a model reads or writes.
struct ModelLanguage {
  std::string code;      ///< as people write it: "fr"
  std::string own = {};  ///< the code of the model: "fra_Latn"; empty: the model has one pair, and no codes
  bool operator==(const ModelLanguage&) const = default;
};

/// The languages of a model, which translates from each source to each other target. Both lists are empty if the folder
/// does not say.
struct ModelLanguages {
  std::vector<ModelLanguage> sources = {};
  std::vector<ModelLanguage> targets = {};
  bool operator==(const ModelLanguages&) const = default;

  /// Returns true if texts need the codes of the model to say what they are.
  [[nodiscard]] bool has_codes() const { return !targets.empty() && !targets.front().own.empty(); }
  /// Returns the only pair. Requires: one source and one target.
  [[nodiscard]] LanguagePair only_pair() const { return {sources.front().code, targets.front().code}; }
};

/// Returns the common codes of a list, in its order.
[[nodiscard]] std::vector<std::string> codes_of(const std::vector<ModelLanguage>& languages);

/// Returns the language of `languages` that `asked` means, a common code or one of the model (match_language); null if
/// there is none.
[[nodiscard]] const ModelLanguage* find_language(std::string_view asked, const std::vector<ModelLanguage>& languages);

/// Returns the languages of a model that translates between all of `own`, its own codes, sorted by common code.
[[nodiscard]] ModelLanguages languages_between(const std::vector<std::string>& own);

/// The text of languages.json in a model folder, and back. {"source": "en", "target": "de"}, or of a model with codes
/// {"sources": {"en": "eng_Latn", ...}, "targets": {...}}. Without languages the text is empty.
/// The reader throws Error(kBadData): "languages.json: must be {\"source\": CODE, \"target\": CODE} ...; correct it".
std::string languages_json(const LanguagePair& pair);
std::string languages_json(const ModelLanguages& languages);
ModelLanguages languages_from_json(std::string_view text, std::string_view file_name);

}  // namespace dragoman::models
