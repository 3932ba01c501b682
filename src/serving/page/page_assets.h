#pragma once

#include <string_view>

#include "serving/page/page_files.h"

namespace dragoman::serving {

/// Returns the file at this path of the server, or null if there is none.
[[nodiscard]] const Asset* find_asset(std::string_view path);

}  // namespace dragoman::serving
