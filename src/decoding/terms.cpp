#include "decoding/terms.h"

#include <algorithm>

#include "base/ascii.h"
#include "base/error.h"
#include "base/utf8.h"
#include "decoding/search/scripts.h"
#include "models/languages.h"

namespace dragoman::decoding {
namespace {

constexpr std::string_view kBlanks = " \t";

bool continues_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
}

// Whether a word goes on across `place`.
bool inside_word(std::string_view text, size_t place) {
  if (place == 0 || place >= text.size()) {
    return false;
  }
  size_t before = place - 1;
  while (before > 0 && continues_character(text[before])) {
    --before;
  }
  const std::u32string left = base::decode_utf8(text.substr(before, place - before));
  const std::u32string right = base::decode_utf8(text.substr(place, 4));
  return is_word_character(left.front()) && is_word_character(right.front());
}

// Blanks around a column say nothing, nor do tabs at the end of a line.
std::vector<std::string_view> columns_of(std::string_view line) {
  std::vector<std::string_view> columns = base::split(line, '\t');
  for (std::string_view& column : columns) {
    column = base::trim(column, kBlanks);
  }
  while (columns.size() > 2 && columns.back().empty()) {
    columns.pop_back();
  }
  return columns;
}

// Columns behind the phrases are the languages or a mistake. @param languages  of the lines before; empty = none yet
void check_languages(const std::vector<std::string_view>& columns, std::string_view place, std::string& languages) {
  if (columns.size() == 2) {
    return;
  }
  base::check_data(
      columns.size() == 4 && models::is_language_code(columns[2]) && models::is_language_code(columns[3]),
      "{}: has {} columns, the last \"{}\"; a line is a source term, a tab, and the phrase that translates "
      "it; two more columns may hold the languages, such as en and de",
      place, columns.size(), columns.back());
  const std::string pair = fmt::format("{} to {}", columns[2], columns[3]);
  languages = languages.empty() ? pair : languages;
  base::check_data(languages == pair, "{}: is for {}, lines before it are for {}; give the terms of one pair", place,
                   pair, languages);
}

}  // namespace

TermTable::TermTable(std::span<const std::string> lines, std::string_view name) {
  std::string languages;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (base::trim(lines[i], kBlanks).empty()) {
      continue;
    }
    const std::string place = fmt::format("{} line {}", name, i + 1);
    const std::vector<std::string_view> columns = columns_of(lines[i]);
    base::check_data(
        columns.size() > 1 && !columns[0].empty() && !columns[1].empty(),
        "{}: \"{}\" has no tab with text on both sides; a line is a source term, a tab, and the phrase that "
        "translates it",
        place, lines[i]);
    check_languages(columns, place, languages);
    targets_[std::string(columns[0])] = columns[1];
    lengths_.insert(columns[0].size());
  }
}

std::vector<std::string> TermTable::find(std::string_view line) const {
  std::vector<std::string> found;
  for (size_t place = 0; place < line.size();) {
    size_t step = 1;
    for (const size_t length : lengths_) {
      if (place + length > line.size() || inside_word(line, place) || inside_word(line, place + length)) {
        continue;
      }
      if (const auto term = targets_.find(std::string(line.substr(place, length))); term != targets_.end()) {
        if (std::ranges::find(found, term->second) == found.end()) {
          found.push_back(term->second);
        }
        step = length;
        break;
      }
    }
    place += step;
  }
  return found;
}

}  // namespace dragoman::decoding
