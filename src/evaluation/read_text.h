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

/// Reads a text. LF ends a line, white space at the end of a line is removed, and ill-formed UTF-8 becomes U+FFFD.
/// Throws: Error(kBadData) as base::read_file.
[[nodiscard]] Text read_text(const std::filesystem::path& path);

}  // namespace dragoman::evaluation
