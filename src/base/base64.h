#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace dragoman::base {

/// Returns the bytes in base64, with = at the end and without line ends. Source: RFC 4648, section 4.
std::string base64(std::span<const std::byte> bytes);

/// Returns the bytes that `text` holds in base64, the inverse of `base64`. @param name  the file and field, for errors
/// Throws: Error(kBadData), "m/tokenizer.json: normalizer.precompiled_charsmap is not base64, 3 characters are no whole
/// groups of 4".
std::string from_base64(std::string_view text, std::string_view name);

}  // namespace dragoman::base
