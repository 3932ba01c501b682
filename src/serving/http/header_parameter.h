#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace dragoman::serving {

/// Returns the value of a parameter of a header, with or without quotes: q of `form-data; name="q"` for name. The name
/// is found in any case. Nothing if the header has no such parameter.
/// Source: RFC 9110, section 5.6.6.
[[nodiscard]] std::optional<std::string> header_parameter(std::string_view header, std::string_view name);

}  // namespace dragoman::serving
