#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace dragoman::base {

/// True if `text` is well-formed UTF-8 (no overlong forms, no surrogates, at most U+10FFFF).
bool is_valid_utf8(std::string_view text);

/// Makes any bytes fit for the sub-word model: each maximal ill-formed part becomes one U+FFFD (Unicode 15,
/// section 3.9, "substitution of maximal subparts"), NUL becomes a space. Valid text comes back unchanged.
std::string repair_utf8(std::string_view text);

/// One step of decoding: a well-formed character, or the maximal ill-formed part that becomes one U+FFFD.
struct CodePoint {
  char32_t value = 0;
  size_t bytes = 0;  ///< at least 1
  bool is_valid = false;
};

/// Returns the character that begins at byte `at` of `text`. Requires: at < text.size().
CodePoint code_point_at(std::string_view text, size_t at);

/// Code points of well-formed UTF-8 and back. Ill-formed parts decode as U+FFFD.
std::u32string decode_utf8(std::string_view text);
std::string encode_utf8(std::u32string_view code_points);

/// `text` cut into lines at LF only. One final CR of each line is dropped; U+0085, U+2028, VT and FF stay inside.
/// A final line without LF counts; an empty text has no lines.
std::vector<std::string> split_lines(std::string_view text);

}  // namespace dragoman::base
