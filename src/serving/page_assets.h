#pragma once

#include <string_view>

namespace dragoman::serving {

/// A file of the web page, compiled into the program.
struct Asset {
  std::string_view path;          ///< "/assets/page.js"; "/" is the page itself
  std::string_view content_type;  ///< "text/javascript; charset=utf-8"
  std::string_view bytes;
};

/// The file at this path of the server; null if there is none.
const Asset* find_asset(std::string_view path);

}  // namespace dragoman::serving
