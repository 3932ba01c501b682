#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace dragoman::base {

/// Returns the bytes in base64, with = at the end and without line ends. Source: RFC 4648, section 4.
std::string base64(std::span<const std::byte> bytes);

}  // namespace dragoman::base
