#pragma once

#include <string>

namespace dragoman::base {

/// Returns: the local time of now, as a format of strftime says: "%Y-%m-%d %H:%M" gives "2026-11-28 14:05".
std::string local_time(const char* format);

}  // namespace dragoman::base
