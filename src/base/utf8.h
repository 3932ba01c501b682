#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace dragoman::base {

/// U+FEFF in UTF-8, with which some programs begin a text.
inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// Returns true if `text` is well-formed UTF-8: no overlong forms, no surrogates, at most U+10FFFF.
[[nodiscard]] bool is_valid_utf8(std::string_view text);

/// Returns `text` as valid input of the sub-word model. Each maximal ill-formed part becomes one U+FFFD, and NUL
/// becomes a space. Other valid text stays unchanged. Source: Unicode 15, section 3.9, "substitution of maximal
/// subparts".
[[nodiscard]] std::string repair_utf8(std::string_view text);

/// One step of decoding: a well-formed character, or a maximal ill-formed part, which counts as U+FFFD.
struct CodePoint {
  char32_t value = 0;
  size_t bytes = 0;  ///< at least 1
  bool is_valid = false;
};

/// Returns the character that begins at byte `at` of `text`. Requires: at < text.size().
[[nodiscard]] CodePoint code_point_at(std::string_view text, size_t at);

/// Return the code points of UTF-8 text, and the UTF-8 text of code points. Ill-formed parts, and code points that are
/// no Unicode scalar values, become U+FFFD.
[[nodiscard]] std::u32string decode_utf8(std::string_view text);
[[nodiscard]] std::string encode_utf8(std::u32string_view code_points);

/// Returns the number of characters of UTF-8 text: of bytes that begin one.
[[nodiscard]] size_t count_characters(std::string_view text);

/// Returns the lines of `text`. Only LF ends a line. One CR at the end of each line is removed; U+0085, U+2028, VT and
/// FF stay. The last line counts also without LF. An empty text has no lines.
[[nodiscard]] std::vector<std::string> split_lines(std::string_view text);

}  // namespace dragoman::base
