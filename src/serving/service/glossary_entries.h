#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "serving/text/languages.h"

namespace dragoman::serving {

/// A source phrase and the phrase that translates it.
struct GlossaryEntry {
  std::string source;
  std::string target;
  bool operator==(const GlossaryEntry&) const = default;
};

/// The largest number of bytes of a phrase, and of the name of a glossary.
inline constexpr size_t kMostGlossaryTextBytes = 1024;

/// The formats in which clients send entries.
enum class EntriesFormat {
  kTsv,  ///< source, tab, target
  kCsv,  ///< source, target, and optionally their languages; fields with a comma or a quote stand in quotes
};

/// Returns the format of a name, "tsv" or "csv". Nothing for any other name.
[[nodiscard]] std::optional<EntriesFormat> entries_format_from(std::string_view name);

/// Returns the entries of a text with one entry on each line. Blank lines are left out, and so are lines of a CSV that
/// name other languages than `pair`. Blanks and byte order marks around a phrase are removed.
/// Throws: HttpError(400) as DeepL does, "Invalid glossary entries provided" with a detail that names the line, counted
///         from 0, and its first character: "Key with the index 1 (starting at position 13) duplicates key with the
///         index 0 (starting at position 0)". Other reasons are a missing or a second separator, an empty phrase, a
///         control character, and a phrase with more than 1024 bytes.
[[nodiscard]] std::vector<GlossaryEntry> parse_glossary_entries(std::string_view text, EntriesFormat format,
                                                                const models::LanguagePair& pair);

/// Returns entries as TSV.
[[nodiscard]] std::string tsv_of(const std::vector<GlossaryEntry>& entries);

/// Returns `entries` with those of `changes`: an entry of the same source is replaced, any other one is added.
[[nodiscard]] std::vector<GlossaryEntry> merged_entries(std::vector<GlossaryEntry> entries,
                                                        const std::vector<GlossaryEntry>& changes);

/// Returns a language as glossaries name it, without script and country, as in DeepL: "pt" for "PT-BR".
[[nodiscard]] std::string glossary_language(std::string_view code);

}  // namespace dragoman::serving
