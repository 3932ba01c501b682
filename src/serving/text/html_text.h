#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "serving/text/character_references.h"

namespace dragoman::serving {

/// The white space of HTML.
inline constexpr std::string_view kHtmlBlanks = " \t\n\r\f";

/// Returns true if `text` has nothing but blanks.
[[nodiscard]] inline bool is_blank(std::string_view text) {
  return text.find_first_not_of(kHtmlBlanks) == std::string_view::npos;
}

/// The words of a line of markup, without its tags, and where they come from.
class PlainWords {
 public:
  /// Appends `html`, text without markup that begins at `offset`. Character references are decoded; unknown ones stay
  /// as they are. Each run of blanks becomes one space, and the words do not begin with a space.
  void append(std::string_view html, size_t offset, ReferencePlace place);

  /// Removes the space at the end, if there is one.
  void remove_last_space();

  [[nodiscard]] const std::string& text() const { return text_; }

  /// Returns where the markup of the character with byte `at` of the text begins. Requires: at < text().size().
  [[nodiscard]] size_t begin_of(size_t at) const { return begins_[at]; }

  /// Returns where the markup of that character ends.
  [[nodiscard]] size_t end_of(size_t at) const { return ends_[at]; }

 private:
  void append_character(std::string_view character, size_t begin, size_t end);

  std::string text_;
  std::vector<size_t> begins_;  // one for each byte of the text
  std::vector<size_t> ends_;
};

/// Returns `text` with &, < and > as character references.
[[nodiscard]] std::string escaped_html(std::string_view text);

/// Returns `text` with U+FFFD for each NUL, as HTML reads names and values.
[[nodiscard]] std::string without_nul(std::string_view text);

}  // namespace dragoman::serving
