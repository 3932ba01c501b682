#pragma once

#include <span>
#include <string_view>

namespace dragoman::serving {

/// A file of the web page, compiled into the program.
struct Asset {
  std::string_view path;          ///< "/assets/page.js"; "/" is the page itself
  std::string_view content_type;  ///< "text/javascript; charset=utf-8"
  std::string_view bytes;
};

/// Returns all files of src/serving/page/, index.html as "/", and docs/derivations.md in each language as
/// "/docs/derivations.md". cmake/embed_files.cmake writes the source that defines it.
[[nodiscard]] std::span<const Asset> page_files();

}  // namespace dragoman::serving
