#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace dragoman::base {

/// What a JSON text may be before a tree of it is built: a copy of a 100,000-deep value would kill the process.
struct JsonLimits {
  size_t max_bytes = size_t{16} << 20;  ///< length of the text
  int max_depth = 32;                   ///< nesting of arrays and objects
};

/// Parses one JSON text. Refuses: beyond the limits, invalid UTF-8, duplicate keys, trailing text, NaN/Infinity.
/// @param name  the file (or request) named in the error. Throws Error(kBadData):
/// "config.json: byte 17: JSON nests deeper than 32; dragoman never writes such files".
nlohmann::json parse_json(std::string_view text, std::string_view name, const JsonLimits& limits = {});

/// Serialises without ever throwing: invalid UTF-8 becomes U+FFFD. indent < 0 writes one line.
std::string dump_json(const nlohmann::json& value, int indent = -1);

}  // namespace dragoman::base
