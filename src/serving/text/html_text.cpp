#include "serving/text/html_text.h"

namespace dragoman::serving {

void PlainWords::append(std::string_view html, size_t offset, ReferencePlace place) {
  for (size_t at = 0; at < html.size();) {
    const auto reference = html[at] == '&' ? reference_at(html.substr(at), place) : std::nullopt;
    const size_t end = at + (reference ? reference->size : 1);
    append_character(reference ? reference->characters : html.substr(at, 1), offset + at, offset + end);
    at = end;
  }
}

void PlainWords::append_character(std::string_view character, size_t begin, size_t end) {
  const bool is_space = character.size() == 1 && is_blank(character);
  if (is_space && (text_.empty() || text_.ends_with(' '))) {
    if (!text_.empty() && ends_.back() == begin) {
      ends_.back() = end;
    }
    return;
  }
  text_ += is_space ? " " : character;
  begins_.resize(text_.size(), begin);
  ends_.resize(text_.size(), end);
}

void PlainWords::remove_last_space() {
  text_.resize(text_.size() - (text_.ends_with(' ') ? 1 : 0));
  begins_.resize(text_.size());
  ends_.resize(text_.size());
}

std::string escaped_html(std::string_view text) {
  std::string result;
  for (const char c : text) {
    result += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string(1, c);
  }
  return result;
}

std::string without_nul(std::string_view text) {
  std::string result;
  for (const char c : text) {
    result += c == '\0' ? "\uFFFD" : std::string(1, c);
  }
  return result;
}

}  // namespace dragoman::serving
