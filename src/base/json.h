#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace dragoman::base {

/// Limits that a JSON text must keep before a tree is built from it. Without them a value nested 100,000 deep would
/// overflow the stack.
struct JsonLimits {
  size_t max_bytes = size_t{16} << 20;  ///< length of the text
  int max_depth = 32;                   ///< nesting of arrays and objects
};

/// Parses one JSON text. Refuses a text beyond the limits, invalid UTF-8, duplicate keys, trailing text, NaN and
/// Infinity.
/// @param name  the file or request, for errors
/// Throws: Error(kBadData), "config.json: byte 17: JSON nests deeper than 32; dragoman never writes such files".
nlohmann::json parse_json(std::string_view text, std::string_view name, const JsonLimits& limits = {});

/// Returns the number whose shortest decimal text reads back as `value`: 0.3 for 0.3F, and not the 0.30000001192092896
/// that 0.3F is exactly. `static_cast<float>` of the result is `value`.
double decimal(float value);

/// Returns `value` with `decimal(x)` in place of each number that is a float x exactly. Files written before floats
/// were stored as decimals then read like new ones.
nlohmann::json with_decimals(nlohmann::json value);

/// Returns `value` as JSON text. Invalid UTF-8 becomes U+FFFD, so the function never throws. indent < 0 writes one
/// line.
std::string dump_json(const nlohmann::json& value, int indent = -1);

}  // namespace dragoman::base
