#pragma once

#include <string>
#include <string_view>

namespace dragoman::serving {

/// What HTML calls white space.
inline constexpr std::string_view kHtmlBlanks = " \t\n\r\f";

/// Appends the words of `html`, text without markup, to `words`: character references read, each run of blanks one
/// space, and none at the beginning of `words`. References that are none, or unknown, stand for themselves.
void append_plain_words(std::string& words, std::string_view html);

/// `text` with & < > as references.
std::string escaped_html(std::string_view text);

}  // namespace dragoman::serving
