#include "serving/service/glossary_entries.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "base/ascii.h"
#include "base/utf8.h"
#include "serving/http/charset.h"
#include "serving/http/http_message.h"
#include "serving/text/text_plan.h"

namespace dragoman::serving {
namespace {

bool is_control(char32_t c) {
  constexpr char32_t kLineSeparator = 0x2028;
  constexpr char32_t kParagraphSeparator = 0x2029;
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == kLineSeparator || c == kParagraphSeparator;
}

// Cuts a line of a CSV at its commas (RFC 4180, section 2). Returns nothing if a quote is not closed.
std::optional<std::vector<std::string>> csv_fields(std::string_view line) {
  std::vector<std::string> fields(1);
  bool is_quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    const bool is_quote = line[i] == '"';
    if (is_quoted && is_quote && line.substr(i + 1).starts_with('"')) {
      fields.back() += '"';
      ++i;
    } else if (is_quote && (is_quoted || fields.back().empty())) {
      is_quoted = !is_quoted;
    } else if (line[i] == ',' && !is_quoted) {
      fields.emplace_back();
    } else {
      fields.back() += line[i];
    }
  }
  return is_quoted ? std::nullopt : std::optional(fields);
}

std::vector<std::string> tsv_fields(std::string_view line) {
  const std::vector<std::string_view> fields = base::split(line, '\t');
  return {fields.begin(), fields.end()};
}

// A field without blanks and byte order marks around it: files that were joined have such marks in their middle.
std::string phrase_of(std::string_view field) {
  for (size_t size = field.size() + 1; field.size() < size;) {
    size = field.size();
    field = base::trim(field, " ");
    field.remove_prefix(field.starts_with(base::kByteOrderMark) ? base::kByteOrderMark.size() : 0);
    field.remove_suffix(field.ends_with(base::kByteOrderMark) ? base::kByteOrderMark.size() : 0);
  }
  return std::string(field);
}

// Reads the lines of one text, and says of a wrong one where it is.
class EntriesReader {
 public:
  EntriesReader(EntriesFormat format, const models::LanguagePair& pair) : format_(format), pair_(pair) {}

  std::vector<GlossaryEntry> run(std::string_view text) {
    for (; !text.empty(); ++index_) {
      const std::string_view line = text.substr(0, text.find('\n'));
      read_line(line.ends_with('\r') ? line.substr(0, line.size() - 1) : line);
      position_ += base::count_characters(line) + 1;
      text.remove_prefix(std::min(line.size() + 1, text.size()));
    }
    if (entries_.empty()) {
      throw HttpError(status::kBadRequest, "Bad request", {}, "Missing or invalid argument: entries");
    }
    return std::move(entries_);
  }

 private:
  std::string place() const {
    return fmt::format("Key with the index {} (starting at position {})", index_, position_);
  }

  [[noreturn]] void refuse(const std::string& what) const {
    throw HttpError(status::kBadRequest, "Invalid glossary entries provided", {}, place() + " " + what);
  }

  void read_line(std::string_view line) {
    if (base::trim(line, " \t").empty()) {
      return;
    }
    const auto fields = format_ == EntriesFormat::kCsv ? csv_fields(line) : tsv_fields(line);
    if (!fields) {
      refuse("has a quote that is not closed");
    }
    const char* const separator = format_ == EntriesFormat::kCsv ? "comma" : "tab";
    if (fields->size() < 2) {
      refuse(fmt::format("misses {} separator", separator));
    }
    if (format_ == EntriesFormat::kTsv && fields->size() > 2) {
      refuse(fmt::format("has more than one {} separator", separator));
    }
    if (is_of_other_languages(*fields)) {
      return;
    }
    add({phrase_of((*fields)[0]), phrase_of((*fields)[1])});
  }

  bool is_of_other_languages(const std::vector<std::string>& fields) const {
    constexpr size_t kWithLanguages = 4;
    return fields.size() >= kWithLanguages &&
           (glossary_language(fields[2]) != pair_.source || glossary_language(fields[3]) != pair_.target);
  }

  void add(GlossaryEntry entry) {
    check_phrase("source", entry.source);
    check_phrase("target", entry.target);
    const auto [known, is_new] = first_of_.try_emplace(entry.source, place());
    if (!is_new) {
      std::string first = known->second;
      first.front() = 'k';
      refuse("duplicates " + first);
    }
    entries_.push_back(std::move(entry));
  }

  void check_phrase(std::string_view side, const std::string& phrase) const {
    if (phrase.empty()) {
      refuse(fmt::format("has an empty {} phrase", side));
    }
    if (phrase.size() > kMostGlossaryTextBytes) {
      refuse(fmt::format("has a {} phrase of {} bytes, at most {} are allowed", side, phrase.size(),
                         kMostGlossaryTextBytes));
    }
    const std::u32string characters = base::decode_utf8(phrase);
    if (const auto found = std::ranges::find_if(characters, is_control); found != characters.end()) {
      refuse(fmt::format("has the control character U+{:04X} in its {} phrase", static_cast<uint32_t>(*found), side));
    }
  }

  EntriesFormat format_;
  const models::LanguagePair& pair_;
  std::vector<GlossaryEntry> entries_;
  std::unordered_map<std::string, std::string> first_of_;  // the place of each source
  size_t index_ = 0;
  size_t position_ = 0;
};

}  // namespace

std::optional<EntriesFormat> entries_format_from(std::string_view name) {
  return name == "tsv"   ? std::optional(EntriesFormat::kTsv)
         : name == "csv" ? std::optional(EntriesFormat::kCsv)
                         : std::nullopt;
}

std::vector<GlossaryEntry> parse_glossary_entries(std::string_view text, EntriesFormat format,
                                                  const models::LanguagePair& pair) {
  return EntriesReader(format, pair).run(document_as_utf8(text, ""));
}

std::string tsv_of(const std::vector<GlossaryEntry>& entries) {
  std::string text;
  for (const GlossaryEntry& entry : entries) {
    text += (text.empty() ? "" : "\n") + entry.source + "\t" + entry.target;
  }
  return text;
}

std::vector<GlossaryEntry> merged_entries(std::vector<GlossaryEntry> entries,
                                          const std::vector<GlossaryEntry>& changes) {
  std::unordered_map<std::string, size_t> place_of;
  for (size_t i = 0; i < entries.size(); ++i) {
    place_of.emplace(entries[i].source, i);
  }
  for (const GlossaryEntry& change : changes) {
    if (const auto known = place_of.find(change.source); known != place_of.end()) {
      entries[known->second] = change;
    } else {
      entries.push_back(change);
    }
  }
  return entries;
}

std::string glossary_language(std::string_view code) {
  return base_language(tidy_language(base::trim(code, " ")));
}

}  // namespace dragoman::serving
