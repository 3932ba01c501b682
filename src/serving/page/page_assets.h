#pragma once

#include <string_view>

#include "serving/page/page_files.h"

namespace dragoman::serving {

/// The file at this path of the server; null if there is none.
const Asset* find_asset(std::string_view path);

}  // namespace dragoman::serving
