#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dragoman::evaluation {

/// True for the 29 characters that Python's str.isspace() accepts: the Unicode White_Space property plus the
/// separators U+001C..U+001F. The published metrics are defined by Python's split() and strip(), hence this set.
bool is_space(char32_t code_point);

/// `text` without white space at its end (Python's rstrip) and at both ends (strip). Views into `text`.
std::string_view trim_right(std::string_view text);
std::string_view trim(std::string_view text);

/// The words of `text`: maximal runs without white space (Python's split). Views into `text`; empty for blank text.
std::vector<std::string_view> split_words(std::string_view text);

/// Full lower-casing in the root locale (Unicode 15, section 3.13, rule R2): a final capital sigma becomes U+03C2,
/// U+0130 becomes i + U+0307. Equal to Python's str.lower() on every code point that both know.
std::string lower_case(std::string_view text);

/// `text` with every occurrence of `from` replaced, left to right, without looking at what was put in.
std::string replace_all(std::string_view text, std::string_view from, std::string_view to);

}  // namespace dragoman::evaluation
