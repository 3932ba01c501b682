#pragma once

#include <string>
#include <string_view>

namespace dragoman::serving {

/// The white space of HTML.
inline constexpr std::string_view kHtmlBlanks = " \t\n\r\f";

/// Returns true if `text` has nothing but blanks.
[[nodiscard]] inline bool is_blank(std::string_view text) {
  return text.find_first_not_of(kHtmlBlanks) == std::string_view::npos;
}

/// Appends `html`, text without markup, to `words`. Character references are decoded; unknown ones stay as they are.
/// Each run of blanks becomes one space, and `words` does not begin with a space.
void append_plain_words(std::string& words, std::string_view html);

/// Returns `text` with &, < and > as character references.
[[nodiscard]] std::string escaped_html(std::string_view text);

}  // namespace dragoman::serving
