#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dragoman::base {

/// Returns `text` with the ASCII letters A to Z in lower case. Other bytes stay. The locale has no influence.
std::string ascii_lower_case(std::string_view text);

/// Returns `text` with the ASCII letters a to z in upper case. Other bytes stay. The locale has no influence.
std::string ascii_upper_case(std::string_view text);

/// Returns `text` without the leading and trailing bytes that are in `removed`. The result is a view into `text`.
std::string_view trim(std::string_view text, std::string_view removed);

/// Returns the parts of `text` between the separators, one more than there are separators. The parts are views into
/// `text`.
std::vector<std::string_view> split(std::string_view text, char separator);

/// Returns true if `a` and `b` are equal when the case of ASCII letters is ignored.
bool equal_ignoring_ascii_case(std::string_view a, std::string_view b);

}  // namespace dragoman::base
