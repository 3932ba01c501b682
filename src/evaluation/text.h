#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dragoman::evaluation {

/// Returns true for the 29 characters that str.isspace() of Python accepts: those with the Unicode property White_Space
/// and the separators U+001C to U+001F. The published metrics are defined by split() and strip() of Python.
bool is_space(char32_t code_point);

/// Return `text` without white space at its end (rstrip of Python) and at both ends (strip), as views into `text`.
std::string_view trim_right(std::string_view text);
std::string_view trim(std::string_view text);

/// Returns the words of `text`, which are maximal runs without white space (split of Python), as views into `text`. A
/// blank text has no words.
std::vector<std::string_view> split_words(std::string_view text);

/// Returns `text` in lower case by the full mapping of the root locale: a final capital sigma becomes U+03C2, and
/// U+0130 becomes i + U+0307. The result equals str.lower() of Python for every code point that both define. Source:
/// Unicode 15, section 3.13, rule R2.
std::string lower_case(std::string_view text);

/// Returns `text` with every occurrence of `from` replaced by `to`, from left to right. Replacements are not searched
/// again.
std::string replace_all(std::string_view text, std::string_view from, std::string_view to);

}  // namespace dragoman::evaluation
