#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace dragoman::evaluation {

/// One text and its origin.
struct Text {
  std::string name;  ///< the name of the file in tables
  std::vector<std::string> lines;
};

/// Reads a text, which may be compressed (base::TextInput). LF ends a line, and white space at the end of a line is
/// removed. A byte order mark stays, as in sacreBLEU.
/// Throws: Error(kBadData) as base::read_text_file, and for ill-formed UTF-8, "out.de: line 17: byte 4 (0xE9) is not
/// UTF-8, ...": two letters that cannot be told apart must not match.
[[nodiscard]] Text read_text(const std::filesystem::path& path);

}  // namespace dragoman::evaluation
