#pragma once

#include <string>
#include <string_view>

namespace dragoman::report {

/// Returns true for an open file that is a terminal which can rewrite a line: TERM is set and not "dumb".
bool can_rewrite_lines(int file_descriptor);

/// Returns true if text for the file may have colours: the file is such a terminal, and NO_COLOR is unset or empty.
/// Source: https://no-color.org
bool shows_colors(int file_descriptor);

/// Returns the number of columns of the terminal, 0 if it is unknown.
int terminal_columns(int file_descriptor);

enum class Color { kBold, kDim, kRed, kGreen, kYellow, kCyan };

/// Returns `text` between the codes of a colour, or `text` alone if `on` is false.
std::string colored(std::string_view text, Color color, bool on);

}  // namespace dragoman::report
