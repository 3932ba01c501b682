#include "decoding/terms.h"

#include <algorithm>

#include "base/ascii.h"
#include "base/error.h"
#include "base/utf8.h"
#include "decoding/search/scripts.h"

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

}  // namespace

TermTable::TermTable(std::span<const std::string> lines, std::string_view name) {
  for (size_t i = 0; i < lines.size(); ++i) {
    if (base::trim(lines[i], kBlanks).empty()) {
      continue;
    }
    const size_t tab = lines[i].find('\t');
    const std::string source(base::trim(std::string_view(lines[i]).substr(0, tab), kBlanks));
    const std::string target(
        tab == std::string::npos ? "" : base::trim(std::string_view(lines[i]).substr(tab + 1), kBlanks));
    base::check_data(!source.empty() && !target.empty(),
                     "{} line {}: \"{}\" has no tab with text on both sides; a line is a source term, a tab, and the "
                     "phrase that translates it",
                     name, i + 1, lines[i]);
    targets_[source] = target;
    lengths_.insert(source.size());
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
