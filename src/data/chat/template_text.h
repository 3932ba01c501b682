#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace dragoman::data {

/// Returns whether str.isspace() of Python is true for a character.
[[nodiscard]] bool is_python_space(char32_t character);

/// Which ends of a text are stripped.
enum class TextEnds { kBoth, kLeft, kRight };

/// Returns `text` without white space at its ends, as str.strip() of Python.
[[nodiscard]] std::string_view stripped(std::string_view text, TextEnds ends);
/// Returns `text` without the characters of `removed` at its ends.
[[nodiscard]] std::string stripped(std::string_view text, std::string_view removed, TextEnds ends);

/// Returns the words of a text, as str.split() of Python without a separator.
[[nodiscard]] std::vector<std::string> words_of(std::string_view text);

/// Return the text in other letters, as Python does: upper, lower; the first letter large and all others small; the
/// first letter of each word large (the filter `title`).
[[nodiscard]] std::string upper_case(std::string_view text);
[[nodiscard]] std::string lower_case(std::string_view text);
[[nodiscard]] std::string capitalized(std::string_view text);
[[nodiscard]] std::string title_case(std::string_view text);

}  // namespace dragoman::data
